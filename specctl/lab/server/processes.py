"""What a process of the server is on its host: its title, its parent's death, its fate."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
from pathlib import Path
from typing import NoReturn

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_ARG_START, _ARG_END = 45, 46
"""Counted from the field after the name in /proc/PID/stat: fields 48 and 49 of proc(5)."""

_LIBC = ctypes.CDLL(None, use_errno=True)


def set_title(title: str) -> None:
    """Change what ps shows of this process: its name, and its command line as long as it was."""
    _LIBC.prctl(_PR_SET_NAME, title.encode()[:15], 0, 0, 0)
    start, end = _argv_memory()
    room = end - start - 1
    if room > 0:
        ctypes.memmove(start, title.encode()[:room].ljust(room), room)


def _argv_memory() -> tuple[int, int]:
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    return int(fields[_ARG_START]), int(fields[_ARG_END])


def die_with_parent(*, is_bound: bool = True) -> None:
    """Have the kernel kill this process when its parent dies, or no longer."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL) if is_bound else 0, 0, 0, 0)


def become_idle(title: str, folder: Path, end_of_life: int) -> NoReturn:
    """Do nothing under that title until the other end of the pipe `end_of_life` is closed.

    An idle interpreter costs megabytes; a `cat` that waits for its input costs next to none. Its
    name comes from a link in `folder`, as the kernel names a process after the file it runs.
    """
    program = Path(shutil.which("cat") or "cat").resolve()
    if program.name == "cat":
        link = folder / title
        with contextlib.suppress(FileExistsError):
            link.symlink_to(program)
        os.dup2(end_of_life, 0)
        with contextlib.suppress(OSError):
            os.execv(link, [title])  # noqa: S606  there is no shell between
    set_title(title)
    os.read(end_of_life, 1)
    os._exit(0)


def name_of_end(status: int) -> int:
    """The exit code as Python's multiprocessing gives it: negative for a signal."""
    return os.waitstatus_to_exitcode(status)


def kill_all(pids: list[int]) -> None:
    """SIGKILL to each that still lives."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def die_of(number: int) -> None:
    """End this process by a signal, as if it had come from outside."""
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)
    signal.pause()
