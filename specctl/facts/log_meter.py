"""Throughput and accept length out of a log's decode reports, over all ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.missing import Missing, Why
from specctl.domain.sample import ServerSample
from specctl.facts.log import DecodeLine, read_decode, read_prefill
from specctl.facts.log_lines import LineKind, LogLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STALE_AFTER_S = 10.0
_IDLE_GAP_S = 1.0
_MAX_RANKS = 1024


@dataclass(frozen=True, slots=True)
class DecodeReport:
    """A decode report, and whether its throughput can be used."""

    line: DecodeLine
    ranks: Mapping[str, int]
    is_after_idle: bool
    """The first report after a start or a pause: its window includes the pause, so its rate is
    far too low (SGLang does not restart the window's clock)."""


@dataclass(slots=True)
class _Rank:
    shard: tuple[int, ...]
    """TP, PP … rank within the data-parallel group; the lowest one speaks for the group."""

    report: DecodeReport | None = None
    arrived_s: float = 0.0
    last_time_s: float | None = None
    was_idle: bool = True


class LogMeter:
    """Adds up the decode reports: sums over data-parallel ranks, one shard of each."""

    def __init__(self) -> None:
        self._groups: dict[int, _Rank] = {}

    def feed(self, line: LogLine, *, now_s: float) -> DecodeReport | None:
        """Take a line in; the report it holds, when it speaks for its data-parallel group."""
        if line.kind not in (LineKind.DECODE, LineKind.PREFILL):
            return None
        group = self._group(line)
        if group is None:
            return None
        if line.kind is LineKind.PREFILL:
            _note_prefill(group, line)
            return None
        decode = read_decode(line.text)
        if decode is None:
            return None
        report = DecodeReport(decode, line.ranks, is_after_idle=group.was_idle)
        group.report, group.arrived_s, group.was_idle = report, now_s, False
        group.last_time_s = line.time_s
        return report

    def _group(self, line: LogLine) -> _Rank | None:
        number = line.ranks.get("DP", 0)
        shard = tuple(line.ranks.get(name, 0) for name in ("PP", "ATTN_CP", "MOE_DP", "TP", "EP"))
        group = self._groups.get(number)
        if group is None:
            if len(self._groups) >= _MAX_RANKS:
                return None
            group = self._groups[number] = _Rank(shard)
        if shard < group.shard:
            self._groups[number] = group = _Rank(shard)
        return group if shard == group.shard else None

    @property
    def reports(self) -> tuple[DecodeReport, ...]:
        """The latest report of each data-parallel rank."""
        return tuple(g.report for _, g in sorted(self._groups.items()) if g.report is not None)

    def sample(self, now_s: float) -> ServerSample:
        """What the log says of the server; rates are None once the last report is old."""
        reports = self.reports
        if not reports:
            why = Missing(Why.NO_WINDOW, "the log has no decode report yet")
            return ServerSample(now_s, "log", missing=dict.fromkeys(_RATES, why))
        age_s = now_s - max(group.arrived_s for group in self._groups.values())
        if age_s > STALE_AFTER_S:
            why = Missing(Why.STALE, f"last decode report {age_s:.0f} s ago")
            return ServerSample(
                now_s, "log", is_idle=True, missing=dict.fromkeys((*_RATES, *_COUNTS), why)
            )
        return _sample_of(reports, now_s)


_RATES = ("tokens_per_s", "accept_length")
_COUNTS = ("running_requests", "queued_requests", "token_usage")


def _note_prefill(group: _Rank, line: LogLine) -> None:
    prefill = read_prefill(line.text)
    if prefill is not None and prefill.running == 0:
        now_s, before_s = line.time_s, group.last_time_s
        is_gap = now_s is None or before_s is None or now_s - before_s >= _IDLE_GAP_S
        group.was_idle = group.was_idle or is_gap
    group.last_time_s = line.time_s or group.last_time_s


def _sample_of(reports: tuple[DecodeReport, ...], now_s: float) -> ServerSample:
    lines = [report.line for report in reports]
    missing = {}
    is_whole = not any(report.is_after_idle for report in reports)
    tokens_per_s = sum_known(line.tokens_per_s for line in lines) if is_whole else None
    if tokens_per_s is None:
        missing["tokens_per_s"] = Missing(
            Why.NO_WINDOW, "the first report after a pause counts the pause"
        )
    accept_length = _accept_length(lines)
    if accept_length is None:
        missing["accept_length"] = Missing(Why.NOT_SPECULATING, "decode lines have no accept len")
    return ServerSample(
        now_s,
        "log",
        tokens_per_s=tokens_per_s,
        accept_length=accept_length,
        accept_length_scope=None if accept_length is None else "interval",
        running_requests=_whole(sum_known(line.running for line in lines)),
        queued_requests=_whole(sum_known(line.queued for line in lines)),
        token_usage=max((x.token_usage for x in lines if x.token_usage is not None), default=None),
        has_moved=True,
        missing=missing,
    )


def sum_known(values: Iterable[float | None]) -> float | None:
    """The sum of the values that are known; None when none is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _accept_length(lines: list[DecodeLine]) -> float | None:
    """Over ranks, weighted by verify steps: a rank's steps per second are rate / accept length."""
    pairs = [(x.accept_length, x.tokens_per_s) for x in lines if x.accept_length]
    return weighted_accept_length([(length, rate) for length, rate in pairs if length])


def weighted_accept_length(pairs: list[tuple[float, float | None]]) -> float | None:
    """The mean accept length of (length, tokens per second) pairs, weighted by verify steps.

    Where no throughput is known every rank counts the same.
    """
    if not pairs:
        return None
    weighed = [(length, rate / length) for length, rate in pairs if rate]
    if not weighed:
        return sum(length for length, _ in pairs) / len(pairs)
    return sum(length * steps for length, steps in weighed) / sum(steps for _, steps in weighed)
