"""The files below a folder, bounded: no link to a folder is followed, none leads out of it."""

from __future__ import annotations

import os
import stat as modes
import time
from collections import deque
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Pattern

from .protocol import describe

LIMITS_MAX = 100


class Found(NamedTuple):
    """One file."""

    name: str
    """Relative to the root, with slashes."""

    path: str
    """Real."""

    size: int
    stamp: str
    """Changes when the file does: size, times and inode."""


class SourceWalk:
    """One walk, breadth first, in the order of the names."""

    def __init__(
        self,
        root: str,
        listed: Pattern[str],
        not_entered: Pattern[str],
        bounds: Dict[str, Any],
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._root = os.path.realpath(root)
        self._listed, self._not_entered = listed, not_entered
        self._files_max, self._depth_max = bounds["files_max"], bounds["depth_max"]
        self._until_s = time.monotonic() + bounds["seconds_max"]
        self._is_cancelled = is_cancelled
        self._seen = 0
        self.limits: List[Dict[str, str]] = []
        """What was left out, as `{path, words}`."""

    def files(self) -> Iterator[Found]:
        """The files that are listed, until all are seen or a bound is met."""
        todo = deque([("", 0)])
        while todo:
            folder, depth = todo.popleft()
            for entry in self._children(folder):
                self._seen += 1
                if self._is_full(entry):
                    return
                name = folder + "/" + entry.name if folder else entry.name
                if self._is_folder(entry):
                    if not self._not_entered.search(name):
                        self._enter(todo, name, depth + 1)
                elif self._listed.search(name):
                    found = self._file(entry, name)
                    if found is not None:
                        yield found

    def note(self, path: str, words: str) -> None:
        """Say that something was left out; the first hundred are kept."""
        if len(self.limits) < LIMITS_MAX:
            self.limits.append({"path": path, "words": words})

    def _is_full(self, entry: "os.DirEntry[str]") -> bool:
        if self._seen > self._files_max:
            self.note("", "more than %d entries: the rest was not looked at" % self._files_max)
        elif time.monotonic() > self._until_s:
            self.note(entry.name, "the time was up: the rest was not looked at")
        elif self._is_cancelled():
            self.note("", "cancelled")
        else:
            return False
        return True

    def _enter(self, todo: Any, name: str, depth: int) -> None:
        if depth <= self._depth_max:
            todo.append((name, depth))
        else:
            self.note(name, "deeper than %d folders: not looked at" % self._depth_max)

    def _children(self, folder: str) -> List["os.DirEntry[str]"]:
        found: List["os.DirEntry[str]"] = []
        try:
            with os.scandir(os.path.join(self._root, folder)) as entries:
                for entry in entries:
                    found.append(entry)
                    if len(found) > self._files_max:
                        break
        except OSError as error:
            self.note(folder, "cannot be listed: " + describe(error)["message"])
        return sorted(found, key=lambda entry: entry.name)

    def _is_folder(self, entry: "os.DirEntry[str]") -> bool:
        try:
            return entry.is_dir(follow_symlinks=False)
        except OSError:
            return False

    def _file(self, entry: "os.DirEntry[str]", name: str) -> Any:
        path = entry.path
        try:
            found = entry.stat(follow_symlinks=False)
            if modes.S_ISLNK(found.st_mode):
                path = os.path.realpath(path)
                if not is_inside(path, self._root):
                    self.note(name, "a link that leads out of the tree: not read")
                    return None
                found = os.stat(path)
        except OSError as error:
            self.note(name, describe(error)["message"])
            return None
        if not modes.S_ISREG(found.st_mode):
            return None
        stamp = "%d %d %d %d" % (
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_ino,
        )
        return Found(name, path, found.st_size, stamp)


def is_inside(path: str, root: str) -> bool:
    """Whether a real path is below a real root."""
    return path.startswith(root.rstrip("/") + "/")


def real_inside(root: str, name: str) -> str:
    """The real path of a file below a root; ValueError for one that leads out of it."""
    real = os.path.realpath(root)
    path = os.path.realpath(os.path.join(real, name))
    if not is_inside(path, real):
        raise ValueError("%s is not inside %s" % (name, root))
    return path
