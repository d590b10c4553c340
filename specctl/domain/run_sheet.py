"""A run of the ledger as names and words, to be read or held against another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.figures import UNKNOWN
from specctl.domain.runs import brief

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specctl.domain.runs import Run, RunBrief

SAMPLES = "requests"
"""The key under which raw requests are kept."""

DIGITS = 6
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RawRequest:
    """One measured request, as it was kept."""

    arm: str
    number: int
    category: str
    tokens: int | None
    verify_steps: int | None
    latency_s: float | None
    ttft_s: float | None
    error: str | None


@dataclass(frozen=True, slots=True)
class RunSheet:
    """Everything that was kept of a run."""

    entry: RunBrief
    conditions: Pairs
    recipes: Pairs
    """Profile to its complete recipe as TOML."""

    arguments: Pairs
    """`ARGUMENT`, with several profiles `PROFILE ARGUMENT`, to what its server resolved."""

    figures: Pairs
    """As they were kept, by the names they have in JSON."""

    requests: tuple[RawRequest, ...]
    measured: Pairs = ()
    """The same of a probe as it is told: in words, with units."""


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One thing in which two runs differ; None where a run has no such thing."""

    kind: str
    name: str
    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class RunDifferences:
    """Two runs held against each other."""

    left: RunBrief
    right: RunBrief
    rows: tuple[RunDifference, ...]
    """Conditions, resolved arguments, figures; empty when all of it is alike."""

    simulated: bool
    """One of them was made on a practice host."""


def sheet_of(run: Run, conditions: Pairs) -> RunSheet:
    """The sheet of a run; `conditions` are in words already."""
    known = run.provenance.arguments
    arguments = [
        (f"{name} {key.replace('_', '-')}".strip(), _words(value))
        for name, found in ((n if len(known) > 1 else "", v) for n, v in known.items())
        for key, value in sorted(found.items())
    ]
    return RunSheet(
        entry=brief(run),
        conditions=conditions,
        recipes=tuple(run.provenance.profiles.items()),
        arguments=tuple(arguments),
        figures=tuple(_flat(run.document, "")),
        requests=tuple(_requests(run.document, "")),
    )


def _flat(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Leaves by their path; raw requests and what is empty are left out."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key != SAMPLES:
                yield from _flat(item, f"{name} {key}".strip())
    elif isinstance(value, list | tuple) and any(isinstance(i, Mapping | list) for i in value):
        for number, item in enumerate(value, start=1):
            yield from _flat(item, f"{name} {_named(item, number)}")
    elif value not in ("", [], (), None):
        yield name.replace("_", "-"), _words(value)


def _named(item: Any, number: int) -> str:
    """By its profile where it is an arm, else by its place."""
    found = item.get("profile") if isinstance(item, Mapping) else None
    return found if isinstance(found, str) else str(number)


def _words(value: Any) -> str:
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.{DIGITS}g}"
        case list() | tuple():
            return " ".join(_words(item) for item in value)
        case _:
            return str(value)


def _requests(value: Any, arm: str) -> Iterator[RawRequest]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _requests(item, arm)
    if not isinstance(value, Mapping):
        return
    arm = str(value.get("profile") or arm)
    for key, item in value.items():
        if key != SAMPLES:
            yield from _requests(item, arm)
            continue
        for number, request in enumerate(item if isinstance(item, list | tuple) else (), start=1):
            if isinstance(request, Mapping):
                yield _request(request, arm, number)


def _request(found: Mapping[str, Any], arm: str, number: int) -> RawRequest:
    latency_s = _number(found.get("server_latency_s"))
    if latency_s is None:
        latency_s = _number(found.get("client_latency_s"))
    first_s = _number(found.get("ttft_s"))
    error = found.get("error")
    return RawRequest(
        arm=arm,
        number=number,
        category=str(found.get("category") or ""),
        tokens=_count(found.get("completion_tokens")),
        verify_steps=_count(found.get("verify_steps")),
        latency_s=latency_s,
        ttft_s=first_s if first_s is not None else _number(found.get("server_ttft_s")),
        error=None if error is None else str(error),
    )


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def differences_of(left: RunSheet, right: RunSheet) -> RunDifferences:
    """Both runs, and what differs."""
    simulated = left.entry.simulated or right.entry.simulated
    return RunDifferences(left.entry, right.entry, compare_runs(left, right), simulated)


def compare_runs(left: RunSheet, right: RunSheet) -> tuple[RunDifference, ...]:
    """What differs: conditions, resolved arguments, figures; in this order."""
    sides = (
        ("condition", _head(left.entry) + left.conditions, _head(right.entry) + right.conditions),
        ("argument", left.arguments, right.arguments),
        ("figure", left.figures, right.figures),
    )
    return tuple(one for kind, a, b in sides for one in _differ(kind, dict(a), dict(b)))


def _head(entry: RunBrief) -> Pairs:
    return (
        ("kind", entry.kind.value),
        ("profiles", " ".join(entry.profiles)),
        ("outcome", entry.outcome or "open"),
    )


def _differ(kind: str, left: Mapping[str, str], right: Mapping[str, str]) -> list[RunDifference]:
    names: Sequence[str] = tuple(dict.fromkeys((*left, *right)))
    return [
        RunDifference(kind, name, left.get(name), right.get(name))
        for name in names
        if left.get(name) != right.get(name)
    ]
