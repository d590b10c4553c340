"""`python -m sglang.launch_server`: from the command line to a process tree that serves."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from specctl.lab.place import LabHost
from specctl.lab.server.arguments import parse_arguments
from specctl.lab.server.launch import Launch
from specctl.lab.server.log import Log
from specctl.lab.server.placing import choose_gpus, choose_instance
from specctl.lab.server.processes import (
    become_idle,
    die_of,
    die_with_parent,
    kill_all,
    set_title,
)
from specctl.lab.server.resolution import Machine, resolve
from specctl.lab.server.running import Children, Running
from specctl.lab.server.wire import Wire
from specctl.lab.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.server.resolution import Resolved

_BARE = "python -m http.worker"
"""A title that says nothing of SGLang."""


def serve(version: str, argv: Sequence[str] | None = None) -> NoReturn:
    """Run a server of that release; ends the process."""
    began = time.monotonic()
    words = list(sys.argv[1:] if argv is None else argv)
    lab_host = LabHost.from_environment(os.environ)
    parsed = parse_arguments(version, words)
    log = Log(has_milliseconds=bool(os.environ.get("SGLANG_LOG_MS")))
    launch = _resolve(version, words, parsed, lab_host, log)
    log.say(f"server_args={launch.resolved.text(launch.numbers)}")
    log.say("SIMULATED: this is the stand-in server of specctl's lab; no GPU computes anything.")
    time.sleep(launch.duration_s("imports"))
    log.say("Using default HuggingFace chat template with detected content format: string")
    tokenizer = load_tokenizer()
    children, end = _fork(launch)
    started = _wait_until_started(launch, log, children, end)
    # asyncio does without TLS where there is none, and is megabytes lighter.
    sys.modules["ssl"] = None  # type: ignore[assignment]
    from specctl.lab.server.serving import serve_forever

    began_s = time.monotonic() - began
    serve_forever(Running(launch, log, children, end.detach(), started, tokenizer, began_s))


def _resolve(version: str, words: list[str], parsed: Any, lab_host: LabHost, log: Log) -> Launch:
    rows = lab_host.scenario.get("gpus", [])
    first = next((row for row in rows if not row.get("is_lost")), None)
    memory = int(first.get("memory_bytes") or 0) if first else 0
    machine = Machine(first and first["name"], memory, os.environ)
    try:
        resolved = resolve(version, parsed, machine, log.say)
        _refuse_what_is_not_simulated(resolved)
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        gpus = choose_gpus(resolved.args, rows, visible)
        instance = choose_instance(lab_host.scenario, gpus, visible)
    except Exception:
        pid = os.getpid()
        log.say(f"kill_process_tree called: parent_pid={pid}, include_parent=False, pid={pid}")
        raise
    return Launch(version, resolved, tuple(words), lab_host, gpus, os.environ, instance)


def _refuse_what_is_not_simulated(resolved: Resolved) -> None:
    args = resolved.args
    for name in ("dp_size", "nnodes"):
        if int(getattr(args, name) or 1) > 1 and int(args.attn_dp_size or 1) == 1:
            raise NotImplementedError(f"SIMULATED: the lab has no server with {name} above 1")
    topk, tokens = args.speculative_eagle_topk, args.speculative_num_draft_tokens
    if args.speculative_algorithm and topk is not None and tokens is None:
        raise TypeError("'>' not supported between instances of 'NoneType' and 'int'")


# ---------------------------------------------------- processes
def _fork(launch: Launch) -> tuple[Children, Wire]:
    """Every scheduler and the detokenizer; and our end of the first one's wire."""
    ours, theirs = socket.socketpair()
    is_bare = launch.lab_host.fault("renamed-process") is not None
    if is_bare:
        set_title(_BARE)
    elif launch.numbers <= (0, 5, 2):
        set_title("sglang::http_server/tokenizer_manager")
    gc.collect()
    gc.freeze()
    titles = launch.lab_host.folder / "titles"
    titles.mkdir(exist_ok=True)
    watched, _ = os.pipe()
    schedulers = []
    for rank in range(launch.ranks):
        pid = os.fork()
        if pid == 0:
            ours.close()
            if rank == 0:
                _be_scheduler(launch, theirs, is_bare=is_bare)
            _be_child()
            become_idle(_BARE if is_bare else launch.title(rank), titles, watched)
        schedulers.append(pid)
    theirs.close()
    detokenizer = os.fork()
    if detokenizer == 0:
        _be_child()
        become_idle(_BARE if is_bare else "sglang::detokenizer", titles, watched)
    os.close(watched)
    return Children(schedulers, detokenizer), Wire(ours)


def _be_child(*, is_bound: bool = True) -> None:
    for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    if is_bound:
        die_with_parent()


def _be_scheduler(launch: Launch, end: socket.socket, *, is_bare: bool) -> NoReturn:
    is_orphan = launch.lab_host.fault("orphan-scheduler") is not None
    _be_child(is_bound=not is_orphan)
    set_title(_BARE if is_bare else launch.title(0))
    if is_orphan:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    from specctl.lab.server.scheduler import run_scheduler

    run_scheduler(launch, Wire(end))
    raise SystemExit


def _next_boot(lab_host: LabHost) -> int:
    """The number of this launch among all of its host."""
    path = Path(lab_host.folder / "boots")
    number = int(path.read_text()) + 1 if path.exists() else 1
    path.write_text(str(number))
    return number


# ---------------------------------------------------- starting
def _wait_until_started(launch: Launch, log: Log, children: Children, end: Wire) -> dict[str, Any]:
    """What the scheduler says when it is ready; the process ends where it never is."""
    signal.signal(signal.SIGQUIT, lambda *_: _end_after_failure(launch, log, children))
    end.send({"do": "begin", "pids": children.schedulers, "boot": _next_boot(launch.lab_host)})
    while True:
        for message in end.receive(None):
            if message["on"] == "started":
                return message
            if message["on"] == "vanished":
                kill_all(children.pids)
                die_of(signal.SIGKILL)
        if end.is_closed:
            _end_after_death(log, children)


def _end_after_failure(launch: Launch, log: Log, children: Children) -> None:
    """A scheduler has said what went wrong, and asked for the end."""
    pid = os.getpid()
    log.say("Received sigquit from a child process. It usually means the child failed.")
    if launch.numbers > (0, 5, 10):
        log.say(f"kill_process_tree called: parent_pid={pid}, include_parent=True, pid={pid}")
    kill_all(children.pids)
    crash = launch.lab_host.fault("crash-at-capture")
    if crash is not None and crash["how"] == "exit-0":
        os._exit(0)
    die_of(signal.SIGKILL)


def _end_after_death(log: Log, children: Children) -> NoReturn:
    """A scheduler is gone without a word."""
    _, status = os.waitpid(children.schedulers[0], 0)
    log.say("Rank 0 scheduler is dead. Please check if there are relevant logs.")
    log.say(f"Exit code: {os.waitstatus_to_exitcode(status)}")
    kill_all(children.pids)
    raise EOFError
