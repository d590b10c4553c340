"""What a trial was expected to find, from runs that ended before it began.

Speedup of decoding = AL / AL*, AL* = T_step / T_base, of an earlier run of the same recipes on the
same host with the same workload at the same concurrency. First tokens are not in it. Where no run
measured it, a forecast from transcripts may say it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.cost import find_suspects
from specctl.domain.missing import Missing, Reasons, Why
from specctl.domain.training import exact_label
from specctl.domain.trial.foretelling import why_not_foretold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures
    from specctl.domain.training import TrainedOn
    from specctl.domain.trial.foretelling import Foretold

NOT_KEPT = Missing(Why.NO_BASELINE, "no prediction was made before this trial began")
NOT_MEASURED = Missing(Why.NOT_YET, "the trial has measured no ratio yet")


@dataclass(frozen=True, slots=True)
class Foreseen:
    """A prediction beside what was measured; None with the reason in `missing`."""

    speedup: float | None = None
    """Of decoding: the baseline's time over the profile's."""

    source: str | None = None
    """Which runs it is from."""

    residual: float | None = None
    """Measured ratio, first tokens and all, over `speedup`, minus 1."""

    missing: Reasons = field(default_factory=dict)
    is_forecast: bool = False
    """From transcripts, not from a run that measured both arms."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """Of one concurrency, fixed before the first launch; None with the reason in `missing`."""

    concurrency: int
    speedup: float | None = None
    """Of decoding: the baseline's time over the profile's."""

    accept_length: float | None = None
    break_even: float | None = None
    source: str | None = None
    """Which runs it is from."""

    missing: Missing | None = None
    is_forecast: bool = False
    """From transcripts, not from a run that measured both arms."""

    def residual(self, measured: float | None) -> float | None:
        """Measured over predicted, minus 1."""
        return None if measured is None or self.speedup is None else measured / self.speedup - 1

    def beside(self, measured: float | None) -> Foreseen:
        """With the residual, or the reasons for what is not known."""
        if self.speedup is None:
            reasons = dict.fromkeys(("speedup", "source", "residual"), self.missing or NOT_KEPT)
            return Foreseen(missing=reasons)
        missing = {} if measured is not None else {"residual": NOT_MEASURED}
        residual = self.residual(measured)
        return Foreseen(self.speedup, self.source, residual, missing, self.is_forecast)

    def words(self, measured: float | None) -> str:
        """The prediction, its source, and how far the measured ratio is from it."""
        if self.speedup is None or self.accept_length is None or self.break_even is None:
            return f"predicted: not known ({(self.missing or NOT_KEPT).detail})"
        text = (
            f"predicted: {self.speedup:.2f}x of decoding (accept length {self.accept_length:.2f} "
            f"over {self.break_even:.2f} plain steps) by {self.source}"
        )
        residual = self.residual(measured)
        if measured is None or residual is None:
            return text
        return f"{text}; measured {measured:.2f}x, first tokens and all: residual {residual:+.1%}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be predicted: names and hashes of both recipes, the baseline first."""

    host: str
    profiles: tuple[str, str]
    recipes: tuple[str, str]
    workload: str
    workload_sha256: str
    concurrencies: tuple[int, ...]
    trained_on: TrainedOn | None = None
    temperature: float = 0.0
    is_baseline_plain: bool = True
    """It decodes without speculation."""


def predict(
    asked: Asked, earlier: Sequence[RunFigures], foretold: Sequence[Foretold] = ()
) -> tuple[Predicted, ...]:
    """One for each concurrency; `earlier` are runs of the host, the newest first.

    Runs that measured both arms go before pairs of probes, and those before forecasts.
    """
    usable = [run for run in earlier if why_not(asked, run) is None]
    reasons = [reason for run in earlier if (reason := why_not(asked, run))]
    measured = [_predict_at(asked, size, usable, reasons) for size in asked.concurrencies]
    return tuple(
        one if one.speedup is not None else _foretell(asked, one, foretold) for one in measured
    )


def _foretell(asked: Asked, unknown: Predicted, foretold: Sequence[Foretold]) -> Predicted:
    """By the newest forecast that may; else `unknown` with why the newest may not."""
    size, reasons = unknown.concurrency, []
    for one in foretold:
        reason, found = why_not_foretold(asked, one, size), one.report.forecast
        if reason is None:
            length, even, faster = (
                found.cold.accept_length, found.break_even, found.predicted_speedup,
            )  # fmt: skip
            return Predicted(size, faster, length, even, one.source, is_forecast=True)
        reasons.append(reason)
    if not reasons or unknown.missing is None:
        return unknown
    detail = f"{unknown.missing.detail}; {reasons[0]}"
    return Predicted(size, missing=Missing(unknown.missing.why, detail))


def why_not(asked: Asked, run: RunFigures) -> str | None:
    """Why a run says nothing of what is asked; None where it may."""
    known = dict(zip(asked.profiles, asked.recipes, strict=True))
    mine = [name for name in known if name in {arm.profile for arm in run.arms}]
    if run.void:
        return f"{run.kind} {run.run} is void: {run.void}"
    if any(run.recipes.get(name) != known[name] for name in mine):
        return f"{run.kind} {run.run} was of other recipes"
    if run.workload != asked.workload:
        return f"{run.kind} {run.run} was of workload {run.workload or 'unknown'}"
    if run.trained_on != asked.trained_on:
        was, wanted = exact_label(run.trained_on), exact_label(asked.trained_on)
        return f"{run.kind} {run.run} was {was}, not {wanted}"
    return None


def _predict_at(
    asked: Asked, concurrency: int, usable: Sequence[RunFigures], reasons: Sequence[str]
) -> Predicted:
    base_name, name = asked.profiles
    for run in usable:
        for pair in run.pairs:
            is_same = (pair.base.profile, pair.arm.profile) == asked.profiles
            if is_same and pair.arm.concurrency == concurrency and not _is_suspect(pair):
                found = _of(concurrency, pair.base, pair.arm, _source(asked, run, pair.arm))
                if found is not None:
                    return found
    probed = [
        next(
            ((run, arm) for run in usable if not run.pairs for arm in run.arms
             if (arm.profile, arm.concurrency) == (one, concurrency)),
            None,
        )
        for one in asked.profiles
    ]  # fmt: skip
    if probed[0] is not None and probed[1] is not None:
        (first, base), (second, arm) = probed[0], probed[1]
        source = f"probe {first.run} of {base_name} and probe {second.run} of {name}"
        source += _version(asked, first, second)
        found = _of(concurrency, base, arm, source)
        if found is not None:
            return found
    return Predicted(
        concurrency,
        missing=Missing(Why.NO_BASELINE, _why(asked, concurrency, usable, reasons)),
    )


def _is_suspect(pair: PairFigures) -> bool:
    """Its figures cannot all be true, so they predict nothing."""
    return bool(
        find_suspects(speedup=pair.speedup, accept_length=pair.arm.accept_length, steps=None)
    )


def _of(concurrency: int, base: ArmFigures, arm: ArmFigures, source: str) -> Predicted | None:
    if not base.step_s or not arm.step_s or arm.accept_length is None:
        return None
    even = arm.step_s / base.step_s
    return Predicted(concurrency, arm.accept_length / even, arm.accept_length, even, source)


def _source(asked: Asked, run: RunFigures, arm: ArmFigures) -> str:
    each = "one launch each" if arm.launches == 1 else f"{arm.launches} launches"
    return f"{run.kind} {run.run}, {each}{_version(asked, run)}"


def _version(asked: Asked, *runs: RunFigures) -> str:
    """That the prompts were not quite these."""
    other = any(run.workload_sha256 != asked.workload_sha256 for run in runs)
    return f", another version of {asked.workload}" if other else ""


def _why(
    asked: Asked, concurrency: int, usable: Sequence[RunFigures], reasons: Sequence[str]
) -> str:
    base, name = asked.profiles
    both = f"{name} and {base}"
    suspect = [run for run in usable if any(map(_is_suspect, run.pairs))]
    if suspect:
        return f"figures of {suspect[0].kind} {suspect[0].run} cannot all be true"
    if usable:
        return f"no earlier run has the step times of {both} at concurrency {concurrency}"
    if reasons:
        return reasons[0]
    return f"no earlier run of {both} on {asked.host}"
