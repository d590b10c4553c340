"""File ops: `stat`, `walk`, `read`, `disk`. None of them writes."""

from __future__ import annotations

import base64
import fnmatch
import os
import stat as modes
from collections import deque
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from . import asked
from .hello import user_name
from .protocol import CHUNK_MAX_BYTES, OpError, describe

WALK_MAX_BYTES = 800 << 10
"""Of answer text, so that it fits one line."""

_KINDS = (
    (modes.S_ISREG, "file"),
    (modes.S_ISDIR, "directory"),
    (modes.S_ISLNK, "link"),
    (modes.S_ISFIFO, "pipe"),
    (modes.S_ISSOCK, "socket"),
    (modes.S_ISCHR, "character device"),
    (modes.S_ISBLK, "block device"),
)


def kind_of(mode: int) -> str:
    """What a file is, in a word."""
    return next((word for is_it, word in _KINDS if is_it(mode)), "unknown")


def stat(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """Per path what it is, following links; `~` is the agent's user."""
    del cancelled
    return {path: _stat(os.path.expanduser(path)) for path in asked.texts(params, "paths")}


def _stat(path: str) -> Dict[str, Any]:
    try:
        found = os.stat(path)
    except OSError as error:
        is_absent = isinstance(error, (FileNotFoundError, NotADirectoryError))
        return {"exists": False if is_absent else None, "error": describe(error)}
    return {
        "exists": True,
        "path": os.path.abspath(path),
        "kind": kind_of(found.st_mode),
        "size": found.st_size,
        "mtime": found.st_mtime,
        "inode": found.st_ino,
        "mode": modes.S_IMODE(found.st_mode),
        "uid": found.st_uid,
        "owner": user_name(found.st_uid),
        "error": None,
    }


def read(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """Bytes of a regular file; fewer than asked for when they would not fit one line."""
    del cancelled
    path = os.path.expanduser(asked.text(params, "path"))
    offset = asked.integer(params, "offset", 0)
    length = min(asked.integer(params, "length", CHUNK_MAX_BYTES), CHUNK_MAX_BYTES)
    if offset < 0 or length < 0:
        raise OpError("bad_request", "offset and length must not be negative")
    with open_regular(path) as file:
        found = os.fstat(file.fileno())
        file.seek(offset)
        data = file.read(length) or b""
        is_end = len(data) < length or not file.read(1)
    return {
        "data": base64.b64encode(data).decode("ascii"),
        "size": found.st_size,
        "inode": found.st_ino,
        "eof": is_end,
    }


def open_regular(path: str) -> Any:
    """Open a regular file unbuffered; anything else is refused without blocking on it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    kind = kind_of(os.fstat(descriptor).st_mode)
    if kind != "file":
        os.close(descriptor)
        raise OpError("not_supported", "%s is a %s, not a file" % (path, kind))
    return os.fdopen(descriptor, "rb", buffering=0)


def disk(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """Per path the size of its file system and what this user may still write there."""
    del cancelled
    return {path: _disk(os.path.expanduser(path)) for path in asked.texts(params, "paths")}


def _disk(path: str) -> Dict[str, Any]:
    try:
        total, free = file_system(path)
    except OSError as error:
        return {"total": None, "free": None, "error": describe(error)}
    return {"total": total, "free": free, "error": None}


def file_system(path: str) -> Tuple[int, int]:
    """(size, what this user may still write) of the file system that holds or would hold `path`."""
    found = os.statvfs(_nearest_existing(path))
    return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize


def _nearest_existing(path: str) -> str:
    """`path`, or the closest parent that exists: where a new directory would be made."""
    path = os.path.abspath(path)
    while not os.path.exists(path) and path != "/":
        path = os.path.dirname(path)
    return path


def walk(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """What is below `root`, breadth first: `[relative path, kind, size, mtime]` each."""
    root = os.path.abspath(os.path.expanduser(asked.text(params, "root")))
    os.scandir(root).close()
    return Walk(params, root, cancelled).run()


class Walk:
    """One bounded walk."""

    def __init__(self, params: Dict[str, Any], root: str, cancelled: Any) -> None:
        self._root = root
        self._cancelled = cancelled
        self._globs = asked.texts(params, "globs")
        self._max_entries = asked.integer(params, "max_entries", 10_000)
        self._max_depth = asked.integer(params, "max_depth", 32)
        self._follow = params.get("follow") is True
        self._entries: List[List[Any]] = []
        self._errors: List[Dict[str, str]] = []
        self._bytes = 0
        self._seen: Set[Tuple[int, int]] = set()
        self._truncated: Optional[str] = None

    def run(self) -> Dict[str, Any]:
        """Walk until all is seen or a bound is met."""
        todo = deque([("", 0)])
        while todo and not self._is_full():
            relative, depth = todo.popleft()
            for name, is_directory in self._list(relative):
                if not is_directory:
                    continue
                if depth + 1 < self._max_depth:
                    todo.append((name, depth + 1))
                else:
                    self._truncated = "max_depth"
        return {
            "entries": self._entries,
            "truncated": self._truncated,
            "errors": self._errors[:100],
        }

    def _is_full(self) -> bool:
        if len(self._entries) >= self._max_entries:
            self._truncated = "max_entries"
        elif self._bytes >= WALK_MAX_BYTES:
            self._truncated = "size"
        elif self._cancelled.is_set():
            self._truncated = "cancelled"
        return self._truncated not in (None, "max_depth")

    def _list(self, relative: str) -> Iterator[Tuple[str, bool]]:
        """The children of one directory, with whether to descend; notes the matching ones."""
        path = os.path.join(self._root, relative)
        try:
            found = os.stat(path)
            if (found.st_dev, found.st_ino) in self._seen:  # a loop of links
                return
            self._seen.add((found.st_dev, found.st_ino))
            children = sorted(os.scandir(path), key=lambda child: child.name)
        except OSError as error:
            self._errors.append({"path": relative, **describe(error)})
            return
        for child in children:
            if self._is_full():
                return
            name = os.path.join(relative, child.name)
            yield name, self._note(name, child)

    def _note(self, name: str, child: "os.DirEntry[str]") -> bool:
        try:
            found = child.stat(follow_symlinks=self._follow)
        except OSError:
            try:
                found = child.stat(follow_symlinks=False)  # a dangling link is still there
            except OSError:
                return False
        kind = kind_of(found.st_mode)
        if self._is_wanted(name, child.name):
            self._entries.append([name, kind, found.st_size, found.st_mtime])
            self._bytes += len(name.encode("utf-8", "replace")) * 2 + 48
        return kind == "directory"

    def _is_wanted(self, relative: str, name: str) -> bool:
        if not self._globs:
            return True
        return any(
            fnmatch.fnmatchcase(relative if "/" in glob else name, glob) for glob in self._globs
        )
