"""The `tail` op: a file's bytes as they are written, across rotation and truncation."""

from __future__ import annotations

import base64
import os
import time
from typing import Any, Dict, Generator, Optional

from . import asked
from .files import open_regular

POLL_S = 0.2
CHUNK_BYTES = 256 << 10


def tail(params: Dict[str, Any], cancelled: Any) -> Generator[Dict[str, Any], None, Dict[str, Any]]:
    """Items with the bytes from `offset` on (negative: that many from the end, whole lines).

    With `follow` it waits for more, also for a file that does not exist yet; else it ends at the
    end. `inode` is that of the file the offset belongs to: another one is read from its start.
    With `every_s` it looks for more when the host's clock is at a multiple of that, as samples do.
    """
    every_s = asked.seconds(params, "every_s", POLL_S, 0.05)
    is_aligned = "every_s" in params
    follower = Follower(
        path=os.path.expanduser(asked.text(params, "path")),
        offset=asked.integer(params, "offset", 0),
        inode=params.get("inode"),
        line_max=asked.integer(params, "max_line_bytes", 65_536),
    )
    follow = params.get("follow") is True
    try:
        if not follow:
            follower.open_now()
        while True:
            item = follower.step()
            if item is not None:
                yield item
            elif not follow or cancelled.wait(
                every_s - time.time() % every_s if is_aligned else every_s
            ):
                return follower.place()
            if cancelled.is_set():
                return follower.place()
    finally:
        follower.close()


class Follower:
    """One file being followed."""

    def __init__(self, path: str, offset: int, inode: Optional[int], line_max: int) -> None:
        self._path = path
        self._offset = offset
        self._inode = inode
        self._line_max = line_max
        self._file: Any = None
        self._is_missing_said = False

    def place(self) -> Dict[str, Any]:
        """Where a later tail would go on."""
        return {"offset": max(self._offset, 0), "inode": self._inode}

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def open_now(self) -> None:
        """Open the file; raises when it is not there."""
        self._file = open_regular(self._path)

    def step(self) -> Optional[Dict[str, Any]]:
        """The next item, or None when there is nothing new."""
        if self._file is None and not self._reopen():
            return self._missing()
        self._is_missing_said = False
        found = os.fstat(self._file.fileno())
        if self._inode != found.st_ino:
            event = "rotated" if self._inode is not None else None
            self._inode = found.st_ino
            self._offset = 0 if event else self._start(found.st_size)
            if event:
                return self._item(b"", event)
        if found.st_size < self._offset:
            self._offset = 0
            return self._item(b"", "truncated")
        if self._offset < 0:
            self._offset = self._start(found.st_size)
        return self._more() or self._rotation()

    def _more(self) -> Optional[Dict[str, Any]]:
        self._file.seek(self._offset)
        data = self._file.read(CHUNK_BYTES)
        if not data:
            return None
        self._offset += len(data)
        return self._item(data, None)

    def _rotation(self) -> Optional[Dict[str, Any]]:
        """After the end of the open file: let go of it when its path names another one."""
        try:
            is_same = os.stat(self._path).st_ino == self._inode
        except OSError:
            is_same = False
        if not is_same:
            self.close()
            return self.step() if os.path.exists(self._path) else self._missing()
        return None

    def _reopen(self) -> bool:
        try:
            self._file = open_regular(self._path)
        except FileNotFoundError:
            return False
        return True

    def _missing(self) -> Optional[Dict[str, Any]]:
        if self._is_missing_said:
            return None
        self._is_missing_said = True
        return self._item(b"", "missing")

    def _start(self, size: int) -> int:
        """A negative offset made absolute, moved on to the start of a line."""
        if self._offset >= 0:
            return self._offset
        if size + self._offset <= 0:
            return 0
        start = size + self._offset
        self._file.seek(start - 1)
        ahead = self._file.read(self._line_max + 1)
        newline = ahead.find(b"\n")
        return start if newline < 0 else start + newline

    def _item(self, data: bytes, event: Optional[str]) -> Dict[str, Any]:
        encoded = base64.b64encode(data).decode("ascii")
        return {
            "data": encoded,
            "offset": max(self._offset, 0),
            "inode": self._inode,
            "event": event,
        }
