"""The processes this agent started: run with a deadline, and none outlives the agent."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import Any, List, NamedTuple, Optional, Sequence, Set

_running: Set["subprocess.Popen[bytes]"] = set()
_lock = threading.Lock()


class Ended(NamedTuple):
    """A child that ended by itself."""

    exit_status: int
    stdout: str
    stderr: str


class HungError(Exception):
    """A child that did not end in time; it was killed, which state D ignores."""

    def __init__(self, argv: Sequence[str], child: "subprocess.Popen[bytes]") -> None:
        super().__init__("%s did not end in time" % argv[0])
        self.child = child


def run(argv: Sequence[str], timeout_s: float) -> Ended:
    """Run `argv` to its end in the C locale; raises HungError, or OSError if it cannot start."""
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "LC_ALL": "C"},
        start_new_session=True,
    )
    with _lock:
        _running.add(child)
    try:
        out, err = child.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        _kill(child)
        raise HungError(argv, child) from None
    forget(child)
    return Ended(child.returncode, _text(out), _text(err))


def start(argv: Sequence[str], given: bytes) -> "subprocess.Popen[bytes]":
    """Start `argv` with `given` on its stdin, which is then closed; what it says is read by you."""
    child = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with _lock:
        _running.add(child)
    stdin: Any = child.stdin
    try:
        stdin.write(given)
        stdin.close()
    except BrokenPipeError:  # it ended before it had read everything; its output says no more
        pass
    return child


def stop(child: "subprocess.Popen[bytes]") -> None:
    """Kill `child`, which may have ended, and reap it."""
    _kill(child)
    child.wait()
    forget(child)
    if child.stdout is not None:
        child.stdout.close()


def has_ended(child: "subprocess.Popen[bytes]") -> bool:
    """Whether a hung child has gone after all; reaps it without waiting."""
    if child.poll() is None:
        return False
    forget(child)
    for pipe in (child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    return True


def forget(child: "subprocess.Popen[bytes]") -> None:
    """Stop counting `child` among the running ones."""
    with _lock:
        _running.discard(child)


def kill_all() -> None:
    """Kill every child that still runs, without waiting for any."""
    with _lock:
        children: List[Any] = list(_running)
    for child in children:
        _kill(child)


def _kill(child: "subprocess.Popen[bytes]") -> None:
    if child.returncode is not None:
        return
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        child.kill()


def _text(data: Optional[bytes]) -> str:
    return (data or b"").decode("utf-8", "replace")
