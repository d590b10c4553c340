"""Whether a directory can hold state: tried by writing, and told by the call that failed."""

from __future__ import annotations

import errno
import os
from typing import Any, Callable, Dict, List, Tuple

from .files import file_system
from .hello import user_name

NEEDED_BYTES = 64 << 20
TRIAL = b"specctl\n" * 512


def try_directory(path: str) -> Dict[str, Any]:
    """Make, write, sync, rename and remove in `path`; what was made for the trial goes again."""
    row: Dict[str, Any] = {"path": path, "usable": False, "call": None, "error": None}
    made, step = "", "mkdir"
    opened: List[int] = []
    try:
        made = _make(path)
        step = "stat"
        found = os.stat(path)
        row.update(owner=user_name(found.st_uid), mode=found.st_mode & 0o7777)
        for call, action in _trial(path, opened):
            step = call
            action()
        total, free = file_system(path)
        row.update(total=total, free=free, is_noexec=_is_noexec(path))
        row["usable"] = free >= NEEDED_BYTES
        if not row["usable"]:
            row.update(call="statvfs", error="only %d bytes are free" % free)
    except OSError as error:
        row["call"] = step
        row["error"] = "%s (%s)" % (error.strerror, errno.errorcode.get(error.errno or 0, "?"))
    finally:
        for descriptor in opened:
            os.close(descriptor)
        _remove(path, made)
    return row


def _make(path: str) -> str:
    """Make `path`; returns the topmost directory that was not there before, else nothing."""
    topmost, above = "", path
    while not os.path.lexists(above):
        topmost, above = above, os.path.dirname(above)
    os.makedirs(path, mode=0o700, exist_ok=True)
    return topmost


def _trial(path: str, opened: List[int]) -> Tuple[Tuple[str, Callable[[], Any]], ...]:
    """The steps of one trial, each named after its system call."""
    draft = os.path.join(path, ".trial-%d" % os.getpid())
    final = draft + ".done"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return (
        ("open", lambda: opened.append(os.open(draft, flags, 0o600))),
        ("write", lambda: os.write(opened[0], TRIAL)),
        ("fsync", lambda: os.fsync(opened[0])),
        ("close", lambda: os.close(opened.pop())),
        ("rename", lambda: os.rename(draft, final)),
        ("unlink", lambda: os.unlink(final)),
    )


def _is_noexec(path: str) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_NOEXEC)


def _remove(path: str, made: str) -> None:
    """Take away the trial file of a failed trial, and the directories made for it."""
    draft = os.path.join(path, ".trial-%d" % os.getpid())
    for leftover in (draft, draft + ".done"):
        try:
            os.unlink(leftover)
        except OSError:
            continue
    while made and len(path) >= len(made):
        try:
            os.rmdir(path)
        except OSError:
            return
        path = os.path.dirname(path)
