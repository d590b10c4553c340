"""How the stand-in fails to start, is signalled, and ends: as the captured servers did."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.questions import ARGUMENTS
from tests.contract.shapes import line_shape
from tests.contract.standin import StandIn, free_port

if TYPE_CHECKING:
    from collections.abc import Callable

    Launch = Callable[..., StandIn]

LOGS = Path(__file__).parents[1] / "data/captures/logs"
SECONDS = re.compile(r"Sleeping N seconds|Sleeping \d+ seconds")
NOISE = (
    "INFO:     ADDRESS",
    "Decode batch",
    "Prefill batch",
    "Multi-thread",
    "Endpoint '",
    "Health check",
    "",
)
ROUNDS = "Gracefully exiting"
ERRORS = re.compile(r"^\w[\w.]*(?:Error|Exception)\b")


def ending(log: str, start: str) -> list[str]:
    """Shapes of the lines from the first that begins with `start`; repeated rounds count once."""
    found: list[str] = []
    for line in log.splitlines():
        shape = SECONDS.sub("Sleeping N seconds", line_shape(line))
        if not found and not shape.startswith(start):
            continue
        is_noise = not shape or shape.startswith(NOISE[:-1])
        shape = re.sub(r"remaining_rids=\[.*?\]", "remaining_rids=[…]", shape)
        if not is_noise and (not found or found[-1] != shape or ROUNDS not in shape):
            found.append(shape)
    return found


def captured(name: str) -> str:
    return (LOGS / f"{name}.log").read_text(errors="replace")


def ask_in_background(server: StandIn, tokens: int) -> tuple[threading.Thread, list[Any]]:
    got: list[Any] = []
    body = {"text": "go on", "sampling_params": {"max_new_tokens": tokens, "ignore_eos": True}}

    def ask() -> None:
        got.append(server.ask("POST", "/generate", body))

    thread = threading.Thread(target=ask)
    thread.start()
    until = time.monotonic() + 10
    while not server.ask("GET", "/v1/loads").json["loads"][0]["num_running_reqs"]:
        assert time.monotonic() < until
        time.sleep(0.01)
    return thread, got


# ---------------------------------------------------- starts that fail
@pytest.mark.parametrize(
    ("arguments", "capture", "status"),
    [
        (("--no-such-flag", "3"), "fail-unknown-arg-0.5.23", 2),
        (("--model-path", "/srv/nosuch"), "fail-bad-model-path-0.5.23", 1),
        (("--speculative-algorithm", "FOO"), "fail-unknown-algorithm-0.5.23", 1),
    ],
    ids=["unknown flag", "no model", "unknown algorithm"],
)
def test_a_refused_start(
    launch: Launch, arguments: tuple[str, ...], capture: str, status: int
) -> None:
    subject = launch(*ARGUMENTS)
    ended = subject.try_start(*ARGUMENTS, *arguments)
    lines = [x for x in captured(capture).splitlines() if not re.match(r"rc=|\d{10}\.", x)]
    wanted = line_shape(lines[-1]).replace("'…'", "X")
    assert line_shape(ended.last_line).replace("'…'", "X") == wanted
    assert ended.status == status
    assert "server_args=" not in ended.output


def test_a_drafter_that_is_missing_ends_the_scheduler_and_then_everything(launch: Launch) -> None:
    subject = launch(*ARGUMENTS)
    ended = subject.try_start(
        *ARGUMENTS, "--speculative-algorithm", "EAGLE", "--speculative-num-steps", "3",
        "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "4",
    )  # fmt: skip
    real = captured("fail-eagle-no-draft-0.5.23")

    def essence(log: str) -> list[str]:
        lines = [line_shape(line) for line in log.splitlines()]
        starts = ("Scheduler hit", "Received sigquit", "kill_process_tree called: parent_pid=N, i")
        return [x for x in lines if ERRORS.match(x) or x.startswith(starts)]

    assert essence(ended.output) == essence(real)
    assert ended.status == 137


def test_a_taken_port_ends_nothing(launch: Launch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = launch(*ARGUMENTS, "--port", str(taken.getsockname()[1]))
        server.wait_for("address already in use").wait_for("Waiting for application shutdown")
        time.sleep(0.5)
        assert server.pid_status() is None
        start = "INFO:     Application startup complete"
        real = ending(captured("fail-port-taken-0.5.23"), start)
        assert ending(server.log(), start) == real[:3]


# ---------------------------------------------------- signals
def test_sigterm_when_idle(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    children = server.children()
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait_until_ended() == 0
    real = ending(captured("life-scheduler-frozen-0.5.23"), "SIGTERM received")
    assert ending(server.log(), "SIGTERM received") == real
    wait_until_gone(children)


def test_sigterm_waits_for_a_running_request(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    thread, got = ask_in_background(server, 500)
    os.kill(server.pid, signal.SIGTERM)
    server.wait_for("Remaining number of requests 1")
    assert server.ask("GET", "/health").status == 503
    assert server.ask("GET", "/ready").status == 503
    thread.join()
    assert got[0].status == 200
    assert server.wait_until_ended() == 0
    real = ending(captured("life-drained-0.5.23"), "SIGTERM received")
    assert ending(server.log(), "SIGTERM received") == real


def test_sigterm_to_the_group_is_a_crash(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    os.killpg(server.pid, signal.SIGTERM)
    assert server.wait_until_ended() == -signal.SIGKILL
    real = ending(captured("life-group-signalled-0.5.23"), "Subprocess scheduler_")
    assert ending(server.log(), "Subprocess scheduler_") == real


def test_a_killed_scheduler_takes_everything_down(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    children = server.children()
    os.kill(children[0], signal.SIGKILL)
    assert server.wait_until_ended() == -signal.SIGKILL
    real = ending(captured("life-scheduler-killed-0.5.23"), "Subprocess scheduler_")
    assert ending(server.log(), "Subprocess scheduler_") == real
    wait_until_gone(children)


def test_a_stopped_scheduler_leaves_metrics_and_nothing_else(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    scheduler = server.children()[0]
    os.kill(scheduler, signal.SIGSTOP)
    assert server.ask("GET", "/health").status == 503
    assert server.ask("GET", "/metrics").status == 200
    with pytest.raises(TimeoutError):
        server.ask("GET", "/server_info", timeout_s=0.5)
    os.kill(scheduler, signal.SIGCONT)
    assert server.ask("GET", "/health").status == 200
    wanted = "Health check failed. Server couldn't get a response from detokenizer"
    real = captured("life-scheduler-frozen-0.5.23")
    ours, theirs = (
        {line_shape(line) for line in log.splitlines() if wanted in line}
        for log in (server.log(), real)
    )
    assert ours == theirs != set()


def test_killing_the_main_process_leaves_no_orphan(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    children = server.children()
    os.kill(server.pid, signal.SIGKILL)
    server.wait_until_ended()
    wait_until_gone(children)


def test_sigint_ends_by_sigint(launch: Launch) -> None:
    server = launch(*ARGUMENTS).wait_until_ready()
    os.kill(server.pid, signal.SIGINT)
    assert server.wait_until_ended() == -signal.SIGINT


def test_0_5_2_kills_itself_when_it_has_drained(launch: Launch) -> None:
    server = launch(*ARGUMENTS, version="0.5.2").wait_until_ready()
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait_until_ended() == -signal.SIGKILL
    assert ending(server.log(), "SIGTERM received") == [
        "SIGTERM received. signum=None frame=None. Draining requests and shutting down...",
        "Gracefully exiting... remaining number of requests N",
    ]


def test_0_5_10_waits_for_ever_for_a_request_it_refused(launch: Launch) -> None:
    server = launch(*ARGUMENTS, version="0.5.10").wait_until_ready()
    assert server.ask("POST", "/generate", {"text": "too long " * 20000}).status == 400
    os.kill(server.pid, signal.SIGTERM)
    server.wait_for("Remaining number of requests 1")
    time.sleep(0.5)
    assert server.pid_status() is None


# ---------------------------------------------------- processes
def test_processes_and_their_titles(launch: Launch) -> None:
    server = launch("--tp-size", "4").wait_until_ready()
    names = [Path(f"/proc/{pid}/comm").read_text().strip() for pid in server.children()]
    titles = [cmdline(pid) for pid in server.children()]
    assert names == ["sglang::schedul"] * 4 + ["sglang::detoken"]
    assert titles == [
        "sglang::scheduler_TP0", "sglang::scheduler_TP1", "sglang::scheduler_TP2",
        "sglang::scheduler_TP3", "sglang::detokenizer",
    ]  # fmt: skip
    assert "sglang.launch_server" in cmdline(server.pid)


def test_one_rank_has_no_tag(launch: Launch) -> None:
    server = launch().wait_until_ready()
    assert [cmdline(pid) for pid in server.children()] == [
        "sglang::scheduler", "sglang::detokenizer",
    ]  # fmt: skip
    assert " TP0]" not in server.log()


def test_port_is_refused_then_503_then_200(launch: Launch) -> None:
    port = free_port()
    server = launch("--port", str(port))
    seen: list[str] = []
    until = time.monotonic() + 20
    while "200" not in seen and time.monotonic() < until:
        try:
            now = str(request_status(port))
        except OSError:
            now = "refused"
        seen += [now] if seen[-1:] != [now] else []
        time.sleep(0.005)
    assert seen == ["refused", "503", "200"], server.log()[-800:]


def wait_until_gone(pids: list[int]) -> None:
    until = time.monotonic() + 2
    while [pid for pid in pids if is_alive(pid)]:
        assert time.monotonic() < until
        time.sleep(0.02)


def request_status(port: int) -> int:
    from tests.contract.subject import request

    return request(port, "GET", "/ready").status


def cmdline(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


def test_sigterm_while_it_loads_ends_everything(launch: Launch) -> None:
    launch.host.set_fault("slow-weights", {"seconds": 30.0})  # type: ignore[attr-defined]
    server = launch("--tp-size", "2").wait_for("Load weight begin")
    children = server.children()
    os.kill(server.pid, signal.SIGTERM)
    assert server.wait_until_ended() == -signal.SIGTERM
    wait_until_gone(children)


def test_the_command_is_the_same_program(launch: Launch) -> None:
    server = launch(*ARGUMENTS)
    command = server.python.with_name("sglang")
    done = subprocess.run(
        [command, "serve", "--model-path", server.model, "--cuda-graph-bs", "1"],
        env={"PATH": os.environ["PATH"], "SPECCTL_LAB_HOST": str(server.host.folder)},
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "sglang serve: error: ambiguous option: --cuda-graph-bs could match "
        "--cuda-graph-bs-decode, --cuda-graph-bs-prefill"
    )
