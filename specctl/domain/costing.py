"""Step costs of an arm against its baseline, and how well they had been predicted.

With T_step, AL and T_base from the windows that are compared a prediction agrees by construction:
what is worth comparing comes from another run, from times the servers recorded, or is typed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from specctl.domain.cost import SAME_WINDOWS, TYPED, find_suspects
from specctl.domain.errors import UsageError
from specctl.domain.missing import Missing, Reasons, Why
from specctl.domain.training import exact_label
from specctl.domain.trial.first_tokens import FirstTokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.interconnect import AllReduce, Link
    from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures
    from specctl.domain.training import TrainedOn

BY_CONSTRUCTION = Missing(
    Why.NO_BASELINE, "a prediction from the same windows agrees with what they measured"
)
NOTHING_MEASURED = Missing(Why.NOT_YET, "no speedup was measured")
RECORDED = "step times that the servers themselves recorded"
ONE_LAUNCH = "one launch each is a number, never a verdict; specctl compare says how sure it is"


@dataclass(frozen=True, slots=True)
class Prediction:
    """A speedup that was to be expected, and what was measured over it."""

    source: str
    base_s: float
    """Of a plain step."""

    step_s: float
    accept_length: float
    break_even: float
    speedup: float
    residual: float | None
    """Measured over predicted, minus 1; None when nothing was measured."""

    first_token_residual: float | None = None
    """What of it first tokens explain, which no draft makes shorter."""

    rest_residual: float | None = None
    """What they do not; (1 + this) * (1 + what they explain) is 1 + `residual`."""

    missing: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CostRow:
    """One concurrency."""

    concurrency: int
    base_s: float | None
    """Decode time per token of the baseline."""

    step_s: float | None
    """Decode time per verify step."""

    break_even: float | None
    """AL*: plain steps that a step costs, which is what it has to bring in tokens."""

    accept_length: float | None
    speedup: float | None
    """Measured: time of the same tokens, the baseline's over the arm's."""

    draft_tokens: int | None
    recorded_step_s: float | None
    """The step as the server recorded it; None where it was not told to."""

    between_steps_s: float | None
    """Of a step's time, what passes outside of what the server recorded; None without that."""

    predictions: tuple[Prediction, ...]
    suspects: tuple[str, ...]
    first_token_share: float | None = None
    """Of the baseline's time for the same tokens."""

    first_token_source: str | None = None
    """Which requests were timed, and by whose clock."""

    missing: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TypedCosts:
    """What was typed to predict from."""

    base_s: float
    step_s: float
    accept_length: float | None = None
    """None: the measured one."""


def cost_rows(
    run: RunFigures,
    profile: str,
    *,
    earlier: Sequence[RunFigures] = (),
    typed: TypedCosts | None = None,
) -> tuple[CostRow, ...]:
    """A row for each concurrency at which `profile` was measured beside its baseline."""
    pairs = [pair for pair in run.pairs if pair.arm.profile == profile]
    if not pairs:
        why = run.void or f"{profile} was not measured beside a baseline"
        raise UsageError(f"run {run.run} says no costs: {why}")
    alike = [one for one in earlier if one.trained_on == run.trained_on]
    return tuple(_row(pair, alike, typed) for pair in pairs)


def _row(pair: PairFigures, earlier: Sequence[RunFigures], typed: TypedCosts | None) -> CostRow:
    base, arm = pair.base, pair.arm
    between, first = None, pair.first_tokens
    if arm.step_s is not None and arm.recorded_step_s is not None:
        between = arm.step_s - arm.recorded_step_s
    return CostRow(
        concurrency=arm.concurrency,
        base_s=base.step_s,
        step_s=arm.step_s,
        break_even=pair.break_even,
        accept_length=arm.accept_length,
        speedup=pair.speedup,
        draft_tokens=arm.draft_tokens,
        recorded_step_s=arm.recorded_step_s,
        between_steps_s=between,
        predictions=tuple(_predictions(pair, earlier, typed)),
        suspects=find_suspects(
            speedup=pair.speedup if arm.algorithm else None,
            accept_length=arm.accept_length,
            steps=arm.steps if arm.is_chain else None,
            marginals=arm.marginals,
        ),
        first_token_share=first.share if isinstance(first, FirstTokens) else None,
        first_token_source=first.source if isinstance(first, FirstTokens) else None,
        missing=dict.fromkeys(("first_token_share", "first_token_source"), first)
        if isinstance(first, Missing)
        else {},
    )


def _predictions(
    pair: PairFigures, earlier: Sequence[RunFigures], typed: TypedCosts | None
) -> list[Prediction]:
    base, arm, measured = pair.base, pair.arm, pair.speedup
    found = []
    for run in earlier:
        same = _same_arm(run, arm)
        if same is not None:
            found.append(
                predict(_source(run), same.base, same.arm, same.arm.accept_length, measured)
            )
    if base.recorded_step_s and arm.recorded_step_s:
        found.append(
            _prediction(
                RECORDED, (base.recorded_step_s, arm.recorded_step_s), arm.accept_length, measured
            )
        )
    if typed is not None:
        length = typed.accept_length or arm.accept_length
        source = TYPED if typed.accept_length else f"{TYPED}, with the measured accept length"
        found.append(_prediction(source, (typed.base_s, typed.step_s), length, measured))
    found.append(predict(SAME_WINDOWS, base, arm, arm.accept_length, None))
    return [_split(one, pair) for one in found if one is not None]


def _split(one: Prediction, pair: PairFigures) -> Prediction:
    """With its residual in two parts, or why it has none."""
    parts, first = ("first_token_residual", "rest_residual"), pair.first_tokens
    if one.residual is None or pair.speedup is None:
        why = BY_CONSTRUCTION if one.source == SAME_WINDOWS else NOTHING_MEASURED
        return replace(one, missing=dict.fromkeys(("residual", *parts), why))
    if isinstance(first, Missing):
        return replace(one, missing=dict.fromkeys(parts, first))
    explained, rest = first.split(one.speedup, pair.speedup)
    return replace(one, first_token_residual=explained, rest_residual=rest)


def _source(run: RunFigures) -> str:
    return f"run {run.run} on {run.host}"


def _same_arm(run: RunFigures, arm: ArmFigures) -> PairFigures | None:
    return next(
        (
            pair
            for pair in run.pairs
            if pair.arm.profile == arm.profile and pair.arm.concurrency == arm.concurrency
        ),
        None,
    )


def predict(
    source: str,
    base: ArmFigures,
    arm: ArmFigures,
    accept_length: float | None,
    measured: float | None,
) -> Prediction | None:
    """AL / AL* from the step times of two arms; None when one of them is not known."""
    if base.step_s is None or arm.step_s is None:
        return None
    return _prediction(source, (base.step_s, arm.step_s), accept_length, measured)


def _prediction(
    source: str, times_s: tuple[float, float], accept_length: float | None, measured: float | None
) -> Prediction | None:
    base_s, step_s = times_s
    if accept_length is None or base_s <= 0 or step_s <= 0:
        return None
    speedup = accept_length * base_s / step_s
    return Prediction(
        source=source,
        base_s=base_s,
        step_s=step_s,
        accept_length=accept_length,
        break_even=step_s / base_s,
        speedup=speedup,
        residual=None if measured is None else measured / speedup - 1,
    )


def find_unpredicted(
    rows: Sequence[CostRow], earlier: Sequence[RunFigures], trained_on: TrainedOn | None = None
) -> tuple[str, ...]:
    """Earlier runs that measured nothing at the same concurrencies, or not after `trained_on`."""
    used = {one.source for row in rows for one in row.predictions}
    return tuple(
        f"run {run.run} predicts nothing: {_why_unused(run, trained_on)}"
        for run in earlier
        if _source(run) not in used
    )


def _why_unused(run: RunFigures, trained_on: TrainedOn | None) -> str:
    if run.trained_on != trained_on:
        return f"it was {exact_label(run.trained_on)}, not {exact_label(trained_on)}"
    return "the profile was not measured at these concurrencies in it"


@dataclass(frozen=True, slots=True)
class CostReport:
    """What steps cost on a host, and what lies between its GPUs."""

    host: str
    profile: str
    baseline: str
    run: str | None
    """That the figures are from; None where only the interconnect was measured."""

    rows: tuple[CostRow, ...]
    """By concurrency."""

    links: tuple[Link, ...]
    """Of the profile's GPUs; empty where the host was not asked."""

    allreduce: AllReduce | None
    """None unless asked for."""

    notes: tuple[str, ...]


def reduce_words(found: AllReduce, rows: Sequence[CostRow]) -> tuple[str, ...]:
    """What of a verify step all-reduces are, where both were measured."""
    per_step = {size.tokens: size.per_step_s for size in found.sizes}
    words = []
    for row in rows:
        reduce_s = per_step.get(row.concurrency * (row.draft_tokens or 1))
        if reduce_s is not None and row.step_s:
            words.append(
                f"at concurrency {row.concurrency} the all-reduces of a verify step take "
                f"{reduce_s * 1000:.2f} of its {row.step_s * 1000:.2f} ms "
                f"({reduce_s / row.step_s:.0%})"
            )
    return tuple(words)
