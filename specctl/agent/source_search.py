"""The `tree_search` op: lines of a tree's files that match a pattern.

A pattern may take for ever on one line, and nothing stops `re` from inside its own process: the
search runs in a child, which is killed when the time is up or the asker has gone.
"""

from __future__ import annotations

import json
import linecache
import re
import select
import sys
import time
from typing import Any, Dict, Generator, Iterator, Optional

from . import asked, children, searching
from .protocol import OpError
from .source_walk import SourceWalk

POLL_S = 0.1
PIECE_BYTES = 64 << 10


def search(
    params: Dict[str, Any], cancelled: Any
) -> Generator[Dict[str, Any], None, Dict[str, Any]]:
    """One item per match; the end says whether it was cut short, and where."""
    pattern = asked.text(params, "pattern")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise OpError("bad_request", "not a pattern: %s" % error) from error
    seconds = asked.seconds(params, "seconds_max", 20.0, 0.1)
    walk = _walk(params, seconds, cancelled)
    request = {
        "root": asked.text(params, "root"),
        "files": [file.name for file in walk.files()],
        "pattern": pattern,
        "ignore_case": asked.switch(params, "ignore_case"),
        "matches_max": asked.integer(params, "matches_max", 1000),
        "bytes_max": asked.integer(params, "file_bytes_max", 4 << 20),
    }
    running = Search(request, seconds, cancelled)
    try:
        yield from running.matches()
    finally:
        running.end()
    return {
        "files": running.files,
        "truncated": running.truncated,
        "at": running.at,
        "limits": walk.limits,
    }


def _walk(params: Dict[str, Any], seconds: float, cancelled: Any) -> SourceWalk:
    bounds = {
        "files_max": asked.integer(params, "files_max", 40_000),
        "depth_max": asked.integer(params, "depth_max", 24),
        "seconds_max": seconds,
    }
    listed, not_entered = (re.compile(asked.text(params, n)) for n in ("listed", "not_entered"))
    return SourceWalk(asked.text(params, "root"), listed, not_entered, bounds, cancelled.is_set)


class Search:
    """One child that searches."""

    def __init__(self, request: Dict[str, Any], seconds: float, cancelled: Any) -> None:
        self._until_s, self._cancelled = time.monotonic() + seconds, cancelled
        self._child = children.start(
            [sys.executable, "-I", "-S", "-c", "".join(linecache.getlines(searching.__file__))],
            json.dumps(request).encode("ascii"),
        )
        self.files = 0
        self.at: Optional[str] = None
        self.truncated: Optional[str] = None

    def matches(self) -> Iterator[Dict[str, Any]]:
        """What the child finds, as it finds it."""
        for line in self._lines():
            message = json.loads(line)
            if "at" in message:
                self.at, self.files = message["at"], self.files + 1
            elif "truncated" in message:
                self.truncated = message["truncated"]
            else:
                yield message

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        stdout: Any = self._child.stdout
        while True:
            if self._cancelled.is_set() or time.monotonic() > self._until_s:
                self.truncated = "cancelled" if self._cancelled.is_set() else "time"
                return
            if not select.select([stdout], [], [], POLL_S)[0]:
                continue
            piece = stdout.read1(PIECE_BYTES)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines

    def end(self) -> None:
        """The child does not outlive its search."""
        children.stop(self._child)
