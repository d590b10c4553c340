"""Standard streams that are closed, full or left by their reader."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import IO

import click

_OF_WRITING = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF, errno.EFBIG)
_MODES = {"stdin": "r", "stdout": "w", "stderr": "w"}


class OutputLostError(Exception):
    """Standard output takes nothing more; no OSError, which click would take for its own."""

    def __init__(self, cause: OSError) -> None:
        """Keep what the system said."""
        super().__init__(cause.strerror or str(cause))
        self.is_reader_gone = isinstance(cause, BrokenPipeError)


def open_missing() -> None:
    """Put /dev/null where a stream is closed: the next file or socket would take its number."""
    for number, (name, mode) in enumerate(_MODES.items()):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def discard(stream: IO[str]) -> None:
    """Send what is still in the buffer, and what follows, nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def find_lost(error: BaseException) -> OutputLostError | None:
    """The loss of standard output that `error` is, or that is among the errors of a group."""
    if isinstance(error, OutputLostError):
        return error
    if isinstance(error, BaseExceptionGroup):
        return next((lost for one in error.exceptions if (lost := find_lost(one))), None)
    if isinstance(error, OSError) and error.filename is None and error.errno in _OF_WRITING:
        return OutputLostError(error) if _is_of_echo(error) else None
    return None


def flush_output() -> None:
    """Write what is left in the buffer of standard output; raises OutputLostError."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputLostError(error) from error


def _is_of_echo(error: OSError) -> bool:
    """Help was being printed; a file on a full disk fails with the same words."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_code is click.echo.__code__ for frame in frames)
