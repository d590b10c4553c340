"""The file that hands keys to a server: removed as soon as the server has read it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
from typing import Callable

IN_CLOSE_NOWRITE = 0x10
IN_NONBLOCK = 0x800
"""inotify(7)."""

QUIET_S = 1.0
"""A reader may open the file twice in a row."""

LOOK_S = 1.0


class Watch:
    """A file, and the inotify descriptor that tells when it was closed after reading."""

    def __init__(self, path: str, descriptor: int | None) -> None:
        """Without a descriptor the file stays until the server ends."""
        self.path, self.descriptor = path, descriptor


def watch(path: str | None) -> Watch | None:
    """Begin to watch `path`; None when there is no file."""
    if path is None:
        return None
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        descriptor = int(libc.inotify_init1(IN_NONBLOCK | os.O_CLOEXEC))
        if (
            descriptor >= 0
            and libc.inotify_add_watch(descriptor, os.fsencode(path), IN_CLOSE_NOWRITE) >= 0
        ):
            return Watch(path, descriptor)
    except (OSError, AttributeError):
        pass
    return Watch(path, None)


def remove_once_read(watched: Watch | None, has_ended: Callable[[], bool]) -> None:
    """Wait until the file was read, or the server ended, and remove it."""
    if watched is None:
        return
    while not has_ended():
        if _was_read(watched, LOOK_S):
            while _was_read(watched, QUIET_S):
                pass
            break
    with contextlib.suppress(FileNotFoundError):
        os.unlink(watched.path)
    if watched.descriptor is not None:
        os.close(watched.descriptor)


def _was_read(watched: Watch, wait_s: float) -> bool:
    """A reader closed the file within `wait_s`."""
    if watched.descriptor is None:
        select.select([], [], [], wait_s)
        return False
    if not select.select([watched.descriptor], [], [], wait_s)[0]:
        return False
    return bool(os.read(watched.descriptor, 4096))
