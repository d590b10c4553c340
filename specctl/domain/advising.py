"""Advice from runs: which draft length to try next, draft by draft and load by load."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from specctl.domain.acceptance import add_histograms, marginal_acceptance
from specctl.domain.advice import (
    MEASURED,
    Measured,
    adaptive_config,
    advise,
    speculation_stops_paying,
)
from specctl.domain.cost import WORTH_MARGIN, find_suspects
from specctl.domain.errors import UsageError
from specctl.domain.training import exact_label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.advice import Advice, Candidate
    from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures

TREE = (
    "drafts a tree: what a smaller tree would accept does not follow from the histogram of a "
    "larger one, so it is only told as measured"
)
FORECAST = "specctl forecast ANSWERS.jsonl --profile {profile} --on {host} --costs {run}"
"""Replays answers given before at other settings of n-gram, before any launch."""

UNTOLD = "did not say how many steps and draft tokens its server resolved"
NO_HISTOGRAM = "its build counts no histogram of accepted drafts"
ONE_LAUNCH = "one launch each is a number; launches of the same profile differ"
NO_STEP_TIME = "a step time was not measured in both arms"
ADAPTIVE = frozenset({"EAGLE", "EAGLE3"})
"""Algorithms whose draft length the server can change while it runs."""


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A draft length and what it would come to; 0 steps is speculation off."""

    steps: int
    draft_tokens: int
    accept_length: float
    step_s_low: float
    """When an added step costs as little as it may; `step_s_high` when as much."""

    step_s_high: float
    speedup: float
    """Between both ends."""

    speedup_low: float
    speedup_high: float
    source: str


@dataclass(frozen=True, slots=True)
class PositionRow:
    """What one draft position brings and costs."""

    place: int
    """From 1."""

    marginal: float
    """Share of the verify steps that accepted this draft."""

    value_s: float
    """Marginal acceptance times the time of a plain step."""

    cost_s_low: float
    cost_s_high: float
    is_measured: bool
    """False: extrapolated beyond the longest draft that was measured."""


@dataclass(frozen=True, slots=True)
class AdviceRow:
    """What to try next at one concurrency."""

    concurrency: int
    base_s: float
    """Of a plain decode step."""

    best: CandidateRow
    """Ties go to fewer steps."""

    is_certain: bool
    """It is the best at either end of what a step may cost."""

    candidates: tuple[CandidateRow, ...]
    positions: tuple[PositionRow, ...]
    words: str


@dataclass(frozen=True, slots=True)
class DraftAdvice:
    """One way of drafting: an algorithm and its draft model."""

    algorithm: str
    draft_model: str | None
    """None where the target drafts for itself, and where it was not said."""

    profiles: tuple[str, ...]
    concurrencies: tuple[AdviceRow, ...]
    stops_paying_at: int | None
    """The concurrency from which on nothing beats off; None while something does."""

    adaptive_config: Mapping[str, Any] | None
    """For `--speculative-adaptive-config`; None for algorithms that cannot adapt."""


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A draft the chain rule says nothing of, as measured."""

    profile: str
    algorithm: str
    concurrency: int
    accept_length: float | None
    break_even: float | None
    speedup: float | None
    """Measured, against off."""

    words: str


@dataclass(frozen=True, slots=True)
class AdviceReport:
    """Advice from one or more runs of one host."""

    host: str
    runs: tuple[str, ...]
    baseline: str
    drafts: tuple[DraftAdvice, ...]
    trees: tuple[TreeRow, ...]
    knows_adaptive_config: bool | None
    """The measured build has `--speculative-adaptive-config`; None: it was not said."""

    notes: tuple[str, ...]


def advise_on(runs: Sequence[RunFigures]) -> AdviceReport:
    """Advice from these runs together; raises UsageError for what cannot be put together."""
    pairs = [pair for run in runs for pair in run.pairs]
    _refuse_apart(runs, pairs)
    chains: dict[tuple[str, str | None], list[PairFigures]] = {}
    trees, notes = [], _notes(runs)
    for pair in pairs:
        why = _why_not(pair, host=runs[0].host)
        if pair.arm.algorithm is None:
            notes.append(f"{pair.arm.profile} does not speculate: nothing to advise on")
        elif why:
            trees.append(_tree(pair, pair.arm.algorithm, why))
        else:
            chains.setdefault((pair.arm.algorithm, pair.arm.draft_model), []).append(pair)
    known = [run.knows_adaptive_config for run in runs if run.knows_adaptive_config is not None]
    return AdviceReport(
        host=runs[0].host,
        runs=tuple(run.run for run in runs),
        baseline=pairs[0].base.profile,
        drafts=tuple(_draft(key, found, pairs) for key, found in chains.items()),
        trees=tuple(trees),
        knows_adaptive_config=all(known) if known else None,
        notes=tuple(dict.fromkeys(notes)),
    )


def _refuse_apart(runs: Sequence[RunFigures], pairs: Sequence[PairFigures]) -> None:
    for run in runs:
        if not run.pairs:
            why = run.void or f"a {run.kind} has no baseline"
            raise UsageError(
                f"nothing can be advised from run {run.run}: {why}",
                hint="Take a trial or a comparison: specctl runs list --kind trial, or comparison.",
            )
    kinds = {
        "hosts": {run.host for run in runs},
        "workloads": {(run.workload_sha256 or "")[:12] for run in runs},
        "training sets": {exact_label(run.trained_on) for run in runs},
        "baselines": {pair.base.profile for pair in pairs},
    }
    for name, found in kinds.items():
        if len(found) > 1:
            raise UsageError(
                f"these runs are of different {name}: {', '.join(sorted(found))}",
                hint="Costs and acceptance of one do not hold for another.",
            )


def _notes(runs: Sequence[RunFigures]) -> list[str]:
    recipes: dict[str, set[str]] = {}
    for run in runs:
        for name, recipe in run.recipes.items():
            recipes.setdefault(name, set()).add(recipe)
    single = [run.run for run in runs if any(pair.low is None for pair in run.pairs)]
    odd = [
        f"run {run.run}, {pair.arm.profile} at {pair.arm.concurrency}: {words}"
        for run in runs
        for pair in run.pairs
        for words in find_suspects(
            speedup=pair.speedup if pair.arm.algorithm else None,
            accept_length=pair.arm.accept_length,
            steps=pair.arm.steps if pair.arm.is_chain else None,
        )
    ]
    return [
        *(f"run {name}: {ONE_LAUNCH}" for name in single),
        *odd,
    ] + [
        f"{name} changed between these runs: its figures are put together all the same"
        for name, found in recipes.items()
        if len(found) > 1
    ]


def _why_not(pair: PairFigures, *, host: str) -> str:
    """Why the chain rule says nothing of an arm; empty where it does."""
    arm = pair.arm
    if arm.algorithm == "NGRAM":
        return f"{TREE}. {FORECAST.format(profile=arm.profile, host=host, run=pair.run)}"
    if arm.is_chain is None:
        return UNTOLD
    if not arm.is_chain:
        return TREE
    if not arm.histogram or not sum(arm.histogram):
        return NO_HISTOGRAM
    return "" if arm.step_s and pair.base.step_s else NO_STEP_TIME


def _tree(pair: PairFigures, algorithm: str, why: str) -> TreeRow:
    return TreeRow(
        profile=pair.arm.profile,
        algorithm=algorithm,
        concurrency=pair.arm.concurrency,
        accept_length=pair.arm.accept_length,
        break_even=pair.break_even,
        speedup=pair.speedup,
        words=why,
    )


def _draft(
    key: tuple[str, str | None], chain: Sequence[PairFigures], everything: Sequence[PairFigures]
) -> DraftAdvice:
    algorithm, draft_model = key
    advices, rows = [], []
    for concurrency in sorted({pair.arm.concurrency for pair in chain}):
        here = [pair for pair in chain if pair.arm.concurrency == concurrency]
        base_s = _base_s([pair for pair in everything if pair.arm.concurrency == concurrency])
        measured = _measured(here)
        advice = advise(concurrency, base_s, measured)
        advices.append(advice)
        rows.append(_row(advice, max(one.steps for one in measured)))
    return DraftAdvice(
        algorithm=algorithm,
        draft_model=draft_model,
        profiles=tuple(dict.fromkeys(pair.arm.profile for pair in chain)),
        concurrencies=tuple(rows),
        stops_paying_at=speculation_stops_paying(advices),
        adaptive_config=adaptive_config(advices) if algorithm in ADAPTIVE else None,
    )


def _base_s(pairs: Sequence[PairFigures]) -> float:
    """Of every baseline at this concurrency, each run counting alike."""
    times = {(pair.run, pair.base.profile): pair.base.step_s for pair in pairs}
    return fmean([time for time in times.values() if time])


def _measured(pairs: Sequence[PairFigures]) -> list[Measured]:
    """One for each draft length, runs of the same length together."""
    found = []
    for steps in sorted({pair.arm.steps or 0 for pair in pairs}):
        arms = [pair.arm for pair in pairs if pair.arm.steps == steps]
        found.append(Measured(steps, _step_s(arms), _marginals(arms, steps)))
    return found


def _step_s(arms: Sequence[ArmFigures]) -> float:
    return fmean([arm.step_s for arm in arms if arm.step_s])


def _marginals(arms: Sequence[ArmFigures], steps: int) -> tuple[float, ...]:
    histogram = add_histograms([arm.histogram for arm in arms if arm.histogram]) or ()
    marginals = marginal_acceptance(histogram)[:steps]
    return (*marginals, *(0.0 for _ in range(steps - len(marginals))))


def _row(advice: Advice, longest: int) -> AdviceRow:
    return AdviceRow(
        concurrency=advice.concurrency,
        base_s=advice.base_s,
        best=_candidate(advice.best),
        is_certain=advice.is_certain,
        candidates=tuple(_candidate(one) for one in advice.candidates),
        positions=tuple(
            PositionRow(
                one.place, one.marginal, one.value_s, one.cost_s_low, one.cost_s_high,
                one.place <= longest,
            )
            for one in advice.positions
        ),
        words=_words(advice),
    )  # fmt: skip


def _candidate(one: Candidate) -> CandidateRow:
    return CandidateRow(
        steps=one.steps,
        draft_tokens=one.draft_tokens,
        accept_length=one.accept_length,
        step_s_low=one.step_s_low,
        step_s_high=one.step_s_high,
        speedup=one.speedup,
        speedup_low=one.speedup_low,
        speedup_high=one.speedup_high,
        source=one.source,
    )


def _words(advice: Advice) -> str:
    best = advice.best
    if best.steps == 0:
        found = "off: no draft length is expected to gain more than 1%"
    else:
        steps = f"{best.steps} step{'' if best.steps == 1 else 's'}"
        found = f"{steps}, {best.draft_tokens} draft tokens: {_speedup_words(best)}, {best.source}"
        if best.speedup <= 1 + WORTH_MARGIN:
            found += "; hardly worth it"
    if advice.is_certain:
        return found
    unmeasured = [one for one in advice.candidates if one.source != MEASURED]
    most = max(unmeasured, key=lambda one: one.speedup_high)
    return (
        f"{found}; what a step costs is not known well enough: measure another draft length, e.g. "
        f"{most.steps}, which may reach {most.speedup_high:.2f}x"
    )


def _speedup_words(one: Candidate) -> str:
    low, high = f"{one.speedup_low:.2f}", f"{one.speedup_high:.2f}"
    return f"{low}x" if low == high else f"{low} to {high}x"
