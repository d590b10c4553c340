"""One line of a server's log taken apart: prefixes, time stamp, ranks, message, kind.

Formats: SGLang writes `[%Y-%m-%d %H:%M:%S{ranks}] message`; collectors (Ray, job runners, docker
compose, Kubernetes) put their own text before it, and several processes may write into one line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class LineKind(StrEnum):
    """What a line is about."""

    DECODE = "decode"
    PREFILL = "prefill"
    ACCESS = "access"
    PROGRESS = "progress"
    EXCEPTION = "exception"
    TRACE = "trace"
    CONSEQUENCE = "consequence"
    """What always follows a failure and never explains it."""

    HARMLESS = "harmless"
    """A warning that healthy servers print too."""

    LAUNCH = "launch"
    """The first line that specctl writes into a launch's log."""

    OTHER = "other"


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of a log."""

    text: str
    """The message alone."""

    shown: str
    """The whole line, made safe and redacted."""

    time: str | None = None
    """The server's own stamp as printed; None on a continuation line."""

    ranks: Mapping[str, int] = field(default_factory=dict)
    """`{"DP": 1, "TP": 3}`; empty with a single rank, which prints no tag."""

    kind: LineKind = LineKind.OTHER

    @property
    def time_s(self) -> float | None:
        """The stamp in seconds; only differences mean anything, its time zone is not printed."""
        return read_time(self.time) if self.time else None

    @property
    def rank(self) -> str | None:
        """The ranks as printed, e.g. `DP1 TP3`; None when the line has no tag."""
        return " ".join(f"{name}{number}" for name, number in self.ranks.items()) or None


_RANK = r"(?:ATTN_CP|ATTN_TP|ATTN_DP|MOE_DP|MOE_EP|MOE_TP|DCP|CP|DP|PP|TP|EP)\d{1,9}"
_CLOCK = r"(?:\d{4}-\d\d-\d\d[ ])?\d\d:\d\d:\d\d(?:[.,]\d+)?"
_STAMP = rf"\[{_CLOCK}(?: {_RANK})*\]"
_PREFIX = re.compile(
    r"(?:\[?\d{4}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+"
    r"(?:[\w.-]+\s+(?:>>\s|(?=(?:DEBUG|INFO|WARNING|WARN|ERROR)\s)))?"
    r"(?:(?:DEBUG|INFO|WARNING|WARN|ERROR)\s+)?"
    r"|\(\w[\w.]* pid=\d+(?:, ip=[\w.:]+)?\)\s?"
    r"|[\w.-]+\s+\|\s)+"
)
_HEAD = re.compile(
    rf"(?:\[(?P<time>{_CLOCK})(?P<ranks>(?: {_RANK})*)\]"
    rf"|(?P<time2>{_CLOCK}) [A-Z]+ \d+ \[(?P<ranks2>(?:{_RANK} )*)[\w./-]+:\d+\]"
    rf"|\[?(?P<ranks3>{_RANK}(?: {_RANK})*)\])\s?"
)
_RANK_PARTS = re.compile(r"([A-Z_]+)(\d+)")
_GLUED = re.compile(_STAMP)
_BAR_END = re.compile(r"(?:it/s|s/it|B/s)\]\s*(?=\S)")
_BAR = re.compile(r"\d{1,3}%(?:\|| Completed \|)[^%]{0,400}?\d{1,18}/\d{1,18} \[")
_ACCESS = re.compile(r'"(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH) \S+ HTTP/')
_LAUNCH = re.compile(r"(?:=+ )?specctl launch (?:id=)?(?P<id>[0-9A-Za-z-]+)")

_STARTS: tuple[tuple[str, LineKind], ...] = (
    ("Decode batch", LineKind.DECODE),
    ("Prefill batch", LineKind.PREFILL),
    ('  File "', LineKind.TRACE),
    ("    ", LineKind.TRACE),
)
_CONTAINS: tuple[tuple[str, LineKind], ...] = (
    ("hit an exception: ", LineKind.EXCEPTION),
    ("Traceback (most recent call last)", LineKind.EXCEPTION),
    ("usually means the child failed", LineKind.CONSEQUENCE),
    ("usually means one child failed", LineKind.CONSEQUENCE),
    ("kill_process_tree called", LineKind.CONSEQUENCE),
    ("Please install aiter", LineKind.CONSEQUENCE),
    ("scheduler is dead", LineKind.CONSEQUENCE),
    ("Ignore import error when loading", LineKind.HARMLESS),
    ("sgl-kernel is not available", LineKind.HARMLESS),
    ("implementation is not available on current platform", LineKind.HARMLESS),
    ("Config file not found at", LineKind.HARMLESS),
    ("UserWarning:", LineKind.HARMLESS),
    ("DeprecationWarning:", LineKind.HARMLESS),
    ("FutureWarning:", LineKind.HARMLESS),
    ("warnings.warn(", LineKind.HARMLESS),
    ("is deprecated and will be removed", LineKind.HARMLESS),
    ("Fail to set RLIMIT_NOFILE", LineKind.HARMLESS),
)


def split_glued(line: str) -> Iterator[str]:
    """The lines that several writers put into one: before each further stamp, after each bar."""
    has_bar = "/s]" in line or "s/it]" in line
    if not has_bar and "[" not in line[1:]:
        if line.strip():
            yield line
        return
    for part in _split_at(line, [m.start() for m in _GLUED.finditer(line)]):
        yield from _split_at(part, [m.end() for m in _BAR_END.finditer(part)] if has_bar else [])


def _split_at(line: str, places: list[int]) -> Iterator[str]:
    start = 0
    for place in places:
        before = line[start:place]
        if before.strip() and not _PREFIX.fullmatch(before):
            yield before
            start = place
    if line[start:].strip():
        yield line[start:]


def read_line(line: str) -> LogLine:
    """Take one safe, redacted line apart; a line with no known prefix is all message."""
    prefix = _PREFIX.match(line)
    rest = line[prefix.end() :] if prefix else line
    head = _HEAD.match(rest)
    if head is None:
        return LogLine(rest, line, kind=kind_of(rest))
    text = rest[head.end() :]
    ranks = head["ranks"] or head["ranks2"] or head["ranks3"] or ""
    return LogLine(
        text,
        line,
        time=head["time"] or head["time2"],
        ranks={name: int(number) for name, number in _RANK_PARTS.findall(ranks)},
        kind=kind_of(text),
    )


def kind_of(text: str) -> LineKind:
    """What a message is about, from its own words."""
    if "%" in text and _BAR.search(text):
        return LineKind.PROGRESS
    if " HTTP/" in text and _ACCESS.search(text):
        return LineKind.ACCESS
    for start, kind in _STARTS:
        if text.startswith(start):
            return kind
    for part, kind in _CONTAINS:
        if part in text:
            return kind
    return LineKind.LAUNCH if _LAUNCH.match(text) else LineKind.OTHER


def launch_id_of(text: str) -> str | None:
    """The launch id of the line that begins a launch's log; None for any other line."""
    match = _LAUNCH.match(text)
    return match["id"] if match else None


def read_time(stamp: str) -> float | None:
    """A stamp in seconds as if it were UTC; None for one without a date."""
    try:
        return datetime.fromisoformat(stamp.replace(",", ".")).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
