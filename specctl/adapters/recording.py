"""Recordings on disk: written once and never over another file, read in parts of bounded size."""

from __future__ import annotations

import bisect
import contextlib
import os
import stat
from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, Self

from specctl.domain.errors import UsageError
from specctl.domain.events import HostDescribed
from specctl.domain.recording import (
    FREQUENT,
    RecordingHead,
    event_line,
    head_line,
    peek,
    read_document,
    read_event,
    read_head,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import TracebackType

    from specctl.domain.events import Event

LINE_BYTES_MAX = 4 << 20
MARK_EVERY_S = 10.0
"""Places to begin reading at are remembered this far apart."""


class RecordingFile:
    """A recording being written; complete after every line."""

    def __init__(self, path: Path, head: RecordingHead, *, most_bytes: int) -> None:
        """Raises UsageError when there is such a file already, or it cannot be made."""
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise UsageError(f"{path} is there already", hint="Give another name.") from None
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}") from error
        self._file = os.fdopen(handle, "wb", buffering=0)
        self._simulated = set(head.simulated_hosts)
        self._most_bytes = most_bytes
        self.bytes_written = 0
        self.events = 0
        self.is_full = False
        self.failure = ""
        """Why nothing more could be written, e.g. that the disk is full; empty while it can."""

        self._put(head_line(head))
        if self.failure:
            self._file.close()
            path.unlink()
            raise UsageError(f"{path} cannot be written: {self.failure}")

    def write(self, event: Event) -> None:
        """Add an event, as long as there is room and nothing failed."""
        if isinstance(event, HostDescribed) and event.simulated:
            self._simulated.add(event.host)
        line = event_line(event, is_simulated=event.host in self._simulated)
        self.is_full = self.is_full or self.bytes_written + len(line) > self._most_bytes
        if not self.is_full and not self.failure:
            self.events += self._put(line)

    def _put(self, line: bytes) -> bool:
        """Write a whole line, or nothing of it."""
        left = memoryview(line)
        try:
            while left:
                left = left[self._file.write(left) or 0 :]
        except OSError as error:
            self.failure = error.strerror or type(error).__name__
            with contextlib.suppress(OSError):
                self._file.truncate(self.bytes_written)
            return False
        self.bytes_written += len(line)
        return True

    def close(self) -> None:
        """Nothing more comes."""
        self._file.close()


class Recording:
    """A recording that can be read from any time on; of it only places are kept in memory."""

    def __init__(self, path: Path) -> None:
        """Reads it once for its times; raises UsageError."""
        self.path = path
        try:
            if not stat.S_ISREG(path.stat().st_mode):
                raise UsageError(f"{path} is no file", hint="specctl record FILE makes one.")
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        self._mark_times, self._mark_places = array("d"), array("Q")
        self._rare_times, self._rare_places = array("d"), array("Q")
        self.began_s = self.ended_s = 0.0
        self.unreadable = 0
        """Lines that are no event; they are left out."""

        try:
            self.head = self._look_through()
        except ValueError as error:
            self._file.close()
            raise UsageError(
                f"{path} is no recording: {error}", hint="specctl record FILE makes one."
            ) from error

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.close()

    @property
    def length_s(self) -> float:
        """From its first event to its last."""
        return self.ended_s - self.began_s

    def _look_through(self) -> RecordingHead:
        first = self._file.readline(LINE_BYTES_MAX)
        head = read_head(read_document(first))
        simulated: set[str] = set()
        hosts: dict[str, None] = {}
        time_s, marked_s, is_begun = 0.0, float("-inf"), False
        for place, line in self._lines(0 if head is None else len(first)):
            found = peek(line)
            if found is None:
                self.unreadable += 1
                continue
            if not is_begun:
                self.began_s, is_begun = found.time_s, True
            time_s = max(time_s, found.time_s)
            if time_s >= marked_s + MARK_EVERY_S:
                self._mark_times.append(time_s)
                self._mark_places.append(place)
                marked_s = time_s
            if found.kind not in FREQUENT:
                self._rare_times.append(time_s)
                self._rare_places.append(place)
            if found.kind == "HostDescribed":
                self._notice(line, hosts, simulated)
        if not is_begun:
            raise ValueError("it holds no event")
        self.ended_s = time_s
        if head is None:
            head = RecordingHead(self.began_s, ())
        return replace(
            head,
            hosts=tuple(dict.fromkeys((*head.hosts, *hosts))),
            simulated_hosts=tuple(dict.fromkeys((*head.simulated_hosts, *sorted(simulated)))),
        )

    def _notice(self, line: bytes, hosts: dict[str, None], simulated: set[str]) -> None:
        try:
            event = read_event(line)
        except ValueError:
            return
        hosts[event.host] = None
        if isinstance(event, HostDescribed) and event.simulated:
            simulated.add(event.host)

    def _lines(self, place: int) -> Iterator[tuple[int, bytes]]:
        """Every line from a place on with its own; one that is too long is empty."""
        while True:
            self._file.seek(place)
            line = self._file.readline(LINE_BYTES_MAX)
            if not line:
                return
            begun = place
            place += len(line)
            if len(line) == LINE_BYTES_MAX and not line.endswith(b"\n"):
                place = self._after_line(place)
                yield begun, b""
            elif line.strip():
                yield begun, line

    def _after_line(self, place: int) -> int:
        self._file.seek(place)
        while part := self._file.readline(LINE_BYTES_MAX):
            place += len(part)
            if part.endswith(b"\n"):
                break
        return place

    def events(self, *, since_s: float | None = None) -> Iterator[Event]:
        """Events in the order they were written, from the last mark before `since_s` on."""
        place = 0
        if since_s is not None and self._mark_times:
            at = max(0, bisect.bisect_right(self._mark_times, since_s) - 1)
            place = self._mark_places[at]
        for _, line in self._lines(place):
            event = _event(line)
            if event is not None and (since_s is None or event.time_s >= since_s):
                yield event

    def rare_events(self, *, before_s: float) -> Iterator[Event]:
        """Events before a time that count for what came after, samples and logs left out."""
        for number in range(bisect.bisect_left(self._rare_times, before_s)):
            self._file.seek(self._rare_places[number])
            event = _event(self._file.readline(LINE_BYTES_MAX))
            if event is not None and event.time_s < before_s:
                yield event


def _event(line: bytes) -> Event | None:
    try:
        return read_event(line)
    except ValueError:
        return None
