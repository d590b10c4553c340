"""The log: application lines on stderr, access lines on stdout, each whole and at once."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

_STDOUT, _STDERR = 1, 2


class Log:
    """Writes lines as SGLang stamps them; `rank` is its tag, e.g. ` TP0`."""

    def __init__(self, rank: str = "", *, has_milliseconds: bool = False) -> None:
        self._rank = rank
        self._has_milliseconds = has_milliseconds

    def say(self, text: str, rank: str | None = None) -> None:
        """One stamped line."""
        tag = self._rank if rank is None else rank
        self.raw(f"[{self._stamp()}{tag}] {text}\n".encode())

    def access(self, text: str) -> None:
        """One line of the web server's own."""
        self._write(_STDOUT, f"[{self._stamp()}] INFO:     {text}\n".encode())

    def raw(self, data: bytes) -> None:
        """Bytes as they are."""
        self._write(_STDERR, data)

    def _stamp(self) -> str:
        seconds, nanoseconds = divmod(time.time_ns(), 10**9)
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
        return f"{stamp}.{nanoseconds // 10**6:03d}" if self._has_milliseconds else stamp

    @staticmethod
    def _write(descriptor: int, data: bytes) -> None:
        with contextlib.suppress(OSError):
            while data:
                data = data[os.write(descriptor, data) :]


def rotate_own_log() -> None:
    """Move the file that stderr goes to aside, and go on in a new one of its name."""
    path = Path(os.readlink(f"/proc/self/fd/{_STDERR}"))
    if not path.is_file():
        return
    path.rename(path.with_name(f"{path.name}.1"))
    reopen_log(str(path))


def reopen_log(path: str) -> None:
    """Write to the file of that name from now on."""
    new = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    for descriptor in (_STDOUT, _STDERR):
        os.dup2(new, descriptor)
    os.close(new)


def log_path() -> str:
    """The file that stderr goes to, as the kernel names it."""
    return os.readlink(f"/proc/self/fd/{_STDERR}")
