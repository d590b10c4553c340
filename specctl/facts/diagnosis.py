"""Why a server failed: the earliest real cause in its log, never what merely followed from it."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specctl.domain.text import shorten
from specctl.facts.failure_rules import EXITS, RULES, CauseKind, Rule
from specctl.facts.log import read_lines
from specctl.facts.log_lines import LineKind, LogLine
from specctl.facts.memory_failure import (
    fraction_in,
    memory_kind,
    memory_step,
    phase_words,
    sizes_in,
)
from specctl.facts.milestones import MilestoneTracker, is_exit_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specctl.domain.server import Milestone

_LINE_CELLS = 300


@dataclass(frozen=True, slots=True)
class Cause:
    """Why a server failed."""

    summary: str
    line: str
    """The line of the log that says so; empty when only the exit status does."""

    line_number: int
    """1-based; 0 when there is no such line."""

    rank: str | None
    phase: Milestone | None
    """The last milestone before it."""

    next_step: str
    kind: str
    """A value of `CauseKind`."""

    @property
    def words(self) -> str:
        """The summary, with the rank that failed first where there are several."""
        return f"{self.summary} (first on {self.rank})" if self.rank else self.summary


@dataclass(slots=True)
class _Unit:
    """Lines that fail together: one line, or an exception with its traceback."""

    number: int
    lines: list[LogLine]
    tracker: MilestoneTracker
    is_exception: bool = False
    is_fatal: bool = False
    """SGLang itself calls it the end of the process."""

    is_harmless: bool = False
    has_lived_on: bool = False
    numbers: list[int] = field(default_factory=list)


def first_cause(
    lines: Sequence[str | LogLine], *, exit_status: int | None, version: str | None = None
) -> Cause | None:
    """The first cause of the last launch in `lines`, read or not; None when nothing has failed.

    `exit_status` of the main process as a shell or as Python says it (137 and -9 are the same).
    """
    numbered = _last_launch(lines)
    units = list(_units(numbered))
    for is_weak in (False, True):
        for unit in units:
            cause = _cause_of(unit, is_weak=is_weak, version=version)
            if cause is not None:
                cause = _with_fraction(cause, numbered, version)
                return _with_group(cause, units, exit_status)
    return _cause_of_exit(exit_status, units)


def _with_fraction(
    cause: Cause, numbered: Sequence[tuple[int, LogLine]], version: str | None
) -> Cause:
    """Of memory: what helps depends on how much of it the server was told to take."""
    if cause.kind not in {CauseKind.OOM_TARGET_GRAPH, CauseKind.OOM_DRAFT_GRAPH}:
        return cause
    said = next((line.text for _, line in numbered if line.text.startswith(_ARGUMENTS)), "")
    step = memory_step(CauseKind(cause.kind), version, fraction_in(said))
    return replace(cause, next_step=step)


_ARGUMENTS = "server_args="
"""Printed once by every start that got past its arguments."""


def _last_launch(lines: Sequence[str | LogLine]) -> list[tuple[int, LogLine]]:
    numbered: list[tuple[int, LogLine]] = []
    is_over = has_begun = False
    for number, text in enumerate(lines, start=1):
        for line in (text,) if isinstance(text, LogLine) else read_lines((text,)):
            is_restart = line.text.startswith(_ARGUMENTS)
            if line.kind is LineKind.LAUNCH or (is_restart and has_begun):
                numbered.clear()
                is_over = False
            has_begun = has_begun or is_restart
            is_over = is_over or is_exit_line(line.text)
            if not is_over:
                numbered.append((number, line))
    return numbered


_BACKGROUND = (
    "Exception in ASGI application",
    "Task exception was never retrieved",
    "Exception ignored in",
    "post-warmup freeze_gc failed",
)
_FATAL = re.compile(r"^\w+ hit an exception: |^Initialization failed\. warmup error")
_WORKS = (LineKind.DECODE, LineKind.PREFILL)
_READY = "The server is fired up"
_LIVED_S = 5.0
_FINAL = re.compile(
    r"(?:[A-Za-z_]\w*\.)*\w*?(?:Error|Exception|Interrupt|Exit|Timeout|Expired|Failure|"
    r"Group|Abort)\b"
)


@dataclass(frozen=True, slots=True)
class _Life:
    """Until when the server is seen to work."""

    ready_number: int
    last_work_s: float | None

    def goes_on_after(self, number: int, time_s: float | None) -> bool:
        """Whether it served on for a while after line `number`, stamped `time_s`."""
        if self.ready_number > number:
            return True
        if time_s is None or self.last_work_s is None:
            return False
        return self.last_work_s - time_s > _LIVED_S


def _life(numbered: list[tuple[int, LogLine]]) -> _Life:
    ready = max((n for n, line in numbered if line.text.startswith(_READY)), default=0)
    times = [line.time_s for _, line in numbered if line.kind in _WORKS]
    return _Life(ready, max((time for time in times if time is not None), default=None))


class _Splitter:
    """Groups lines into units, following the milestones alongside."""

    def __init__(self, life: _Life) -> None:
        self._life = life
        self._tracker = MilestoneTracker()
        self._picture = MilestoneTracker()
        self._unit: _Unit | None = None
        self._time_s: float | None = None
        self._before = ""

    def units(self, numbered: list[tuple[int, LogLine]]) -> Iterator[_Unit]:
        """The units of `numbered`, in order."""
        for number, line in numbered:
            if self._unit is not None and _continues(line):
                self._unit.lines.append(line)
                self._unit.numbers.append(number)
                continue
            yield from self._close()
            yield from self._open(number, line)
            self._before = line.text
        yield from self._close()

    def _open(self, number: int, line: LogLine) -> Iterator[_Unit]:
        if line.time is not None:
            self._time_s = line.time_s
        self._tracker.feed(line)
        if _starts_exception(line):
            self._unit = self._new(number, line)
            self._unit.is_exception = True
            self._unit.is_fatal = _FATAL.match(line.text) is not None
            self._unit.is_harmless = any(word in self._before for word in _BACKGROUND)
        elif line.kind in (LineKind.OTHER, LineKind.CONSEQUENCE):
            yield self._new(number, line)

    def _new(self, number: int, line: LogLine) -> _Unit:
        if not self._picture.is_same(self._tracker):
            self._picture = self._tracker.copy()
        lives_on = self._life.goes_on_after(number, self._time_s)
        return _Unit(number, [line], self._picture, has_lived_on=lives_on, numbers=[number])

    def _close(self) -> Iterator[_Unit]:
        if self._unit is not None:
            yield self._unit
            self._unit = None


def _units(numbered: list[tuple[int, LogLine]]) -> Iterator[_Unit]:
    return _Splitter(_life(numbered)).units(numbered)


def _starts_exception(line: LogLine) -> bool:
    is_named = line.time is None and _FINAL.match(line.text) is not None
    return line.kind is LineKind.EXCEPTION or is_named or _FATAL.match(line.text) is not None


def _continues(line: LogLine) -> bool:
    return line.time is None and not line.ranks and line.kind is not LineKind.CONSEQUENCE


_ENDINGS = frozenset(
    {
        CauseKind.STOPPED,
        CauseKind.SIGKILL,
        CauseKind.SIGNAL,
        CauseKind.PORT_TAKEN,
        CauseKind.WATCHDOG_NCCL,
        CauseKind.WATCHDOG_SCHEDULER,
        CauseKind.NOT_ANSWERING,
    }
)
"""What ends a server although it may work on for a while."""


def _cause_of(unit: _Unit, *, is_weak: bool, version: str | None) -> Cause | None:
    if unit.is_harmless:
        return None
    is_survived = unit.has_lived_on and not unit.is_fatal
    for rule in RULES:
        if rule.is_weak is is_weak and not (is_survived and rule.kind not in _ENDINGS):
            found = _match(rule, unit)
            if found is not None:
                return _cause(unit, rule, *found, version=version)
    if unit.is_exception and not is_weak and not is_survived:
        return _exception_cause(unit)
    return None


def _match(rule: Rule, unit: _Unit) -> tuple[int, re.Match[str]] | None:
    if not unit.is_exception and unit.lines[0].kind is LineKind.CONSEQUENCE and not rule.is_weak:
        return None
    for place, line in enumerate(unit.lines):
        if unit.is_exception and line.kind is LineKind.TRACE:
            continue
        match = rule.pattern.search(line.text)
        if match is not None:
            return place, match
    return None


def _cause(
    unit: _Unit, rule: Rule, place: int, match: re.Match[str], *, version: str | None
) -> Cause:
    line = unit.lines[place]
    text = "\n".join(x.text for x in unit.lines)
    kind = memory_kind(unit.tracker, text) if rule.kind is CauseKind.OOM else rule.kind
    words = _words(match, line.text)
    words["phase"], words["size"] = phase_words(kind), sizes_in(text)
    return Cause(
        summary=" ".join(rule.summary.format_map(words).split()),
        line=shorten(line.text.strip(), _LINE_CELLS),
        line_number=unit.numbers[place],
        rank=unit.lines[0].rank or _nccl_rank(line.text),
        phase=unit.tracker.milestone,
        next_step=rule.next_step or memory_step(kind, version),
        kind=kind,
    )


def _words(match: re.Match[str], line: str) -> dict[str, str]:
    words: dict[str, str] = defaultdict(str)
    for name, value in match.groupdict().items():
        plain = name.rstrip("0123456789")
        words[plain] = words[plain] or (value or "")
    words["line"] = shorten(line.strip(), 160)
    words["what"] = words["what"] or words["line"]
    words["at_port"] = f" ({words['port']})" if words["port"] else ""
    words["path"] = f"{words['path']} " if words["path"] else ""
    return words


_NCCL_RANK = re.compile(r"\[rank(\d+)\]|\[Rank (\d+)\]")


def _nccl_rank(text: str) -> str | None:
    match = _NCCL_RANK.search(text)
    return f"rank {match[1] or match[2]}" if match else None


def _exception_cause(unit: _Unit) -> Cause:
    ends = [place for place, line in enumerate(unit.lines) if _FINAL.match(line.text)]
    place = ends[-1] if ends else 0
    line = unit.lines[place].text.strip()
    return Cause(
        summary=shorten(line, 160) if ends else "an exception, its text is not in the log",
        line=shorten(line, _LINE_CELLS),
        line_number=unit.numbers[place],
        rank=unit.lines[0].rank,
        phase=unit.tracker.milestone,
        next_step=f"Read the traceback from line {unit.number} of the log.",
        kind=CauseKind.EXCEPTION,
    )


def _with_group(cause: Cause, units: list[_Unit], exit_status: int | None) -> Cause:
    """A SIGTERM that also hit the schedulers is a stop that went wrong."""
    if cause.kind != CauseKind.STOPPED:
        return cause
    crash = next((u for u in units if "crashed with exit code -15" in u.lines[0].text), None)
    if crash is None:
        ended = "drained and ended" if exit_status == 0 else "was told to drain"
        return _replaced(cause, CauseKind.STOPPED, f"somebody stopped it (SIGTERM): it {ended}")
    return _replaced(
        cause,
        CauseKind.STOPPED_GROUP,
        "SIGTERM went to the whole process group: the scheduler died before it could drain",
    )


def _replaced(cause: Cause, kind: CauseKind, summary: str) -> Cause:
    next_step = cause.next_step
    if kind is CauseKind.STOPPED_GROUP:
        next_step = "Signal only the main process; a dying login session signals the group."
    return Cause(summary, cause.line, cause.line_number, cause.rank, cause.phase, next_step, kind)


_FIRST_SIGNAL_STATUS = 128


def _cause_of_exit(exit_status: int | None, units: list[_Unit]) -> Cause | None:
    if exit_status is None:
        return None
    number = exit_status
    if number < 0 or number > _FIRST_SIGNAL_STATUS:
        number = -number if number < 0 else number - _FIRST_SIGNAL_STATUS
        kind, summary, step = EXITS.get(
            number,
            (CauseKind.SIGNAL, f"it was ended by signal {number}", "Look in `dmesg -T`."),
        )
    elif number in (0, 2):
        kind, summary, step = EXITS[number]
    else:
        kind, summary, step = (
            CauseKind.UNKNOWN,
            f"it exited with status {number} and its log gives no cause",
            "Read the whole log; run the command line by hand.",
        )
    phase = units[-1].tracker.milestone if units else None
    return Cause(summary, "", 0, None, phase, step, kind)
