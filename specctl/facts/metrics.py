"""The Prometheus text of a server, parsed and read.

Format: Prometheus text exposition 0.0.4. SGLang keeps the colon (`sglang:x`); gateways rewrite it
to `sglang_x`. Gauges hold their last value for ever, so only a counter that moved tells that
something is happening.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.facts.numbers import fraction_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_LINES = 100_000
_NAME = re.compile(r"[A-Za-z_:][A-Za-z0-9_:]*")
_LABEL = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n"}
_PREFIXES = ("sglang:", "sglang_")


@dataclass(frozen=True, slots=True)
class Series:
    """One value with its labels."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Histogram:
    """A histogram with all its label sets added up."""

    buckets: tuple[tuple[float, float], ...]
    """(upper bound, observations at or below it), rising; the last bound is infinite."""

    @property
    def count(self) -> float:
        """All observations."""
        return self.buckets[-1][1] if self.buckets else 0.0

    def since(self, earlier: Histogram | None) -> Histogram | None:
        """What was observed after `earlier`; None when the server counts from zero again."""
        if earlier is None:
            return None
        before = dict(earlier.buckets)
        moved = tuple((bound, n - before.get(bound, 0.0)) for bound, n in self.buckets)
        return None if any(n < 0 for _, n in moved) else Histogram(moved)

    def quantile(self, share: float) -> float | None:
        """The value below which `share` of the observations lie, linear inside a bucket.

        As PromQL's histogram_quantile: past the last finite bound, that bound; None when empty.
        """
        rank = share * self.count
        if rank <= 0:
            return None
        lower, below = 0.0, 0.0
        for bound, total in self.buckets:
            if total >= rank:
                if bound == float("inf"):
                    return lower
                inside = total - below
                return lower + (bound - lower) * (rank - below) / inside if inside else bound
            lower, below = bound, total
        return None


class Metrics:
    """One scrape; names stand without SGLang's prefix. A family is parsed when it is asked for."""

    __slots__ = ("_parsed", "_raw", "_unnamed")

    def __init__(self, raw: Mapping[str, Sequence[str]], unnamed: int = 0) -> None:
        self._raw = raw
        self._unnamed = unnamed
        self._parsed: dict[str, tuple[Series, ...]] = {}

    def series(self, name: str) -> tuple[Series, ...]:
        """All series of a name; empty when the server has none."""
        parsed = self._parsed.get(name)
        if parsed is None:
            found = (_parse_series(line) for line in self._raw.get(name, ()))
            parsed = self._parsed[name] = tuple(one for one in found if one is not None)
        return parsed

    @property
    def families(self) -> dict[str, tuple[Series, ...]]:
        """Every family that has a series."""
        return {name: series for name in self._raw if (series := self.series(name))}

    @property
    def skipped(self) -> int:
        """Lines that could not be understood, or whose value is no number."""
        return self._unnamed + sum(
            len(lines) - len(self.series(name)) for name, lines in self._raw.items()
        )

    def total(self, name: str, **labels: str) -> float | None:
        """The sum of a counter over its label sets; None when the server does not have it."""
        values = [
            series.value
            for series in self.series(name)
            if all(series.labels.get(key) == value for key, value in labels.items())
        ]
        return sum(values) if values else None

    def per_group(self, name: str) -> dict[str, float]:
        """A scheduler's gauge by data-parallel rank, read from one shard of each.

        The shards of a rank repeat the same number. With priorities, the series without one is
        the whole; where every series has one, they add up.
        """
        chosen: dict[str, tuple[tuple[int, ...], float]] = {}
        for series in _whole_series(self.series(name)):
            group, shard = series.labels.get("dp_rank", "0"), _shard(series.labels)
            known = chosen.get(group)
            if known is None or shard < known[0]:
                chosen[group] = (shard, series.value)
            elif shard == known[0]:
                chosen[group] = (shard, known[1] + series.value)
        return {group: value for group, (_, value) in chosen.items()}

    def histogram(self, name: str) -> Histogram | None:
        """A histogram over all its label sets; None when the server has none."""
        buckets: dict[float, float] = {}
        for series in self.series(f"{name}_bucket"):
            bound = _bound(series.labels.get("le", ""))
            if bound is not None:
                buckets[bound] = buckets.get(bound, 0.0) + series.value
        return Histogram(tuple(sorted(buckets.items()))) if buckets else None


def _whole_series(series: Iterable[Series]) -> list[Series]:
    every = list(series)
    without = [one for one in every if not one.labels.get("priority")]
    return without or every


def _shard(labels: Mapping[str, str]) -> tuple[int, ...]:
    numbers = (labels.get(name, "0") for name in ("pp_rank", "tp_rank", "moe_ep_rank"))
    return tuple(int(n) if n.isascii() and n.isdigit() and len(n) < 9 else 0 for n in numbers)  # noqa: PLR2004


def _bound(text: str) -> float | None:
    return float("inf") if text == "+Inf" else fraction_of(text)


def parse_metrics(text: str) -> Metrics:
    """Read an exposition; a line that is not understood is counted and left out."""
    raw: dict[str, list[str]] = {}
    unnamed = 0
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        line = line.strip()
        if not line or line[0] == "#":
            continue
        name = _NAME.match(line)
        if name is None:
            unnamed += 1
        else:
            raw.setdefault(_bare(name[0]), []).append(line[name.end() :])
    return Metrics(raw, unnamed)


def _parse_series(rest: str) -> Series | None:
    labels, rest = _parse_labels(rest)
    if labels is None or not rest.strip():
        return None
    value = fraction_of(rest.split(None, 1)[0])
    return None if value is None else Series(labels, value)


def _parse_labels(text: str) -> tuple[dict[str, str] | None, str]:
    if not text.startswith("{"):
        return {}, text
    labels: dict[str, str] = {}
    place = 1
    while (label := _LABEL.match(text, place)) is not None:
        labels[label[1]] = _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[1]), label[2])
        place = label.end()
    rest = text[place:].lstrip()
    return (labels, rest[1:]) if rest.startswith("}") else (None, "")


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name
