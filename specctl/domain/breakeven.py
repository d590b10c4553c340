"""Whether speculation pays, from numbers that were typed rather than measured."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from specctl.domain.cost import (
    WORTH_MARGIN,
    break_even_accept_length,
    expected_accept_length,
    find_suspects,
    needed_accuracy,
)
from specctl.domain.errors import UsageError

OPTIMISTIC = (
    "training accuracy is an optimistic stand-in for acceptance: later draft positions are "
    "accepted less often than the first"
)
NO_OVERHEAD = (
    "without host overhead such predictions were 5 to 10 % too good, so a gain below 10 % is not "
    "called worth it"
)
CONTRADICTED = "the numbers cannot all be true"
NO_OVERHEAD_MARGIN = 0.10


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed; None where nothing was."""

    base_ms: float | None = None
    base_tps: float | None = None
    step_ms: float | None = None
    draft_ms: float | None = None
    verify_ms: float | None = None
    overhead_ms: float | None = None
    tps: float | None = None
    accept_length: float | None = None
    accuracy: float | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class BreakEven:
    """What follows from it; None with the reason in `unknown`: too few numbers, or a suspect."""

    base_ms: float | None
    step_ms: float
    break_even_accept_length: float | None
    accept_length: float | None
    accept_length_source: str
    predicted_tps: float | None
    predicted_speedup: float | None
    worth_it: bool | None
    needed_accuracy: float | None
    """The accuracy at which `steps` draft steps break even."""

    unknown: str = ""
    notes: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()


def work_out(typed: Typed) -> BreakEven:
    """The break-even of `typed`; raises UsageError for numbers that are too few or contradict."""
    _check_numbers(typed)
    accept_length, source = _accept_length(typed)
    step_ms = _step_ms(typed)
    base_ms = _base_ms(typed)
    star = break_even_accept_length(step_ms, base_ms) if base_ms else None
    speedup = accept_length / star if accept_length is not None and star else None
    needs = needed_accuracy(star, typed.steps) if star and typed.steps else None
    suspects = find_suspects(speedup=speedup, accept_length=accept_length, steps=typed.steps)
    unknown = _unknown(base_ms, accept_length) or (CONTRADICTED if suspects else "")
    return BreakEven(
        base_ms=base_ms,
        step_ms=step_ms,
        break_even_accept_length=star,
        accept_length=accept_length,
        accept_length_source=source,
        predicted_tps=None if accept_length is None else accept_length / step_ms * 1000,
        predicted_speedup=speedup,
        worth_it=None if unknown or speedup is None else speedup > 1 + _margin(typed),
        needed_accuracy=needs,
        unknown=unknown,
        notes=_notes(typed),
        suspects=suspects,
    )


def curve(
    typed: Typed, *, accuracies: tuple[float, ...]
) -> tuple[tuple[float, float, float | None], ...]:
    """(accuracy, accept length, speedup) along `accuracies`, at the typed steps and costs."""
    if typed.steps is None:
        raise UsageError("a curve needs the number of draft steps", hint="Add --steps K.")
    step_ms, base_ms = _step_ms(typed), _base_ms(typed)
    points = []
    for accuracy in accuracies:
        length = expected_accept_length(accuracy, typed.steps)
        points.append((accuracy, length, length * base_ms / step_ms if base_ms else None))
    return tuple(points)


def _check_numbers(typed: Typed) -> None:
    for name, value in asdict(typed).items():
        if value is not None and not math.isfinite(value):
            raise UsageError(f"--{name.replace('_', '-')} must be a number, not {value:g}")
    for name in ("base_ms", "base_tps", "step_ms", "draft_ms", "verify_ms", "tps"):
        value = getattr(typed, name)
        if value is not None and value <= 0:
            raise UsageError(f"--{name.replace('_', '-')} must be above 0, not {value:g}")
    if typed.overhead_ms is not None and typed.overhead_ms < 0:
        raise UsageError(f"--overhead-ms must not be negative, not {typed.overhead_ms:g}")
    if typed.accept_length is not None and typed.accept_length < 1:
        raise UsageError(
            f"an accept length includes the bonus token: at least 1, not {typed.accept_length:g}"
        )


def _accept_length(typed: Typed) -> tuple[float | None, str]:
    if typed.accuracy is None:
        return typed.accept_length, "" if typed.accept_length is None else "typed"
    if typed.accept_length is not None and typed.tps is None:
        raise UsageError("--accept-length and --accuracy exclude each other, except with --tps")
    if typed.steps is None:
        raise UsageError("--accuracy needs the number of draft steps", hint="Add --steps K.")
    length = expected_accept_length(typed.accuracy, typed.steps)
    return length, f"accuracy {typed.accuracy:g} over {typed.steps} steps"


def _step_ms(typed: Typed) -> float:
    ways = {
        "--step-ms": typed.step_ms is not None,
        "--draft-ms and --verify-ms": typed.draft_ms is not None or typed.verify_ms is not None,
        "--tps": typed.tps is not None,
    }
    chosen = [way for way, is_chosen in ways.items() if is_chosen]
    if len(chosen) != 1:
        problem = f"{' and '.join(chosen)} exclude each other" if chosen else "no step cost given"
        raise UsageError(
            problem,
            hint="Give one of --step-ms, --draft-ms with --verify-ms, --tps with --accept-length.",
        )
    if typed.overhead_ms is not None and typed.draft_ms is None:
        raise UsageError("--overhead-ms goes with --draft-ms and --verify-ms")
    if typed.step_ms is not None:
        return typed.step_ms
    if typed.tps is not None:
        return _step_ms_of_rate(typed.tps, typed.accept_length)
    if typed.draft_ms is None or typed.verify_ms is None:
        raise UsageError("--draft-ms and --verify-ms go together")
    return typed.draft_ms + typed.verify_ms + (typed.overhead_ms or 0)


def _step_ms_of_rate(tps: float, accept_length: float | None) -> float:
    if accept_length is None:
        raise UsageError(
            "--tps needs the accept length it was measured at", hint="Add --accept-length."
        )
    return accept_length / tps * 1000


def _base_ms(typed: Typed) -> float | None:
    if typed.base_ms is not None and typed.base_tps is not None:
        raise UsageError("--base-ms and --base-tps exclude each other")
    if typed.base_ms is not None:
        return typed.base_ms
    return None if typed.base_tps is None else 1000 / typed.base_tps


def _unknown(base_ms: float | None, accept_length: float | None) -> str:
    if base_ms is None:
        return "no baseline: give --base-ms or --base-tps"
    if accept_length is None:
        return "no accept length: give --accept-length, or --accuracy with --steps"
    return ""


def _leaves_overhead_out(typed: Typed) -> bool:
    return typed.draft_ms is not None and typed.overhead_ms is None


def _margin(typed: Typed) -> float:
    return NO_OVERHEAD_MARGIN if _leaves_overhead_out(typed) else WORTH_MARGIN


def _notes(typed: Typed) -> tuple[str, ...]:
    notes = []
    if typed.accuracy is not None:
        notes.append(OPTIMISTIC)
    if _leaves_overhead_out(typed):
        notes.append(NO_OVERHEAD)
    return tuple(notes)
