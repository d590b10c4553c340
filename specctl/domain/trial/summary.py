"""Everything a trial says, from its plan and its launches alone: the same anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import exp, log
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.cost import find_suspects
from specctl.domain.energy import energy_standing
from specctl.domain.training import warm_words
from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.lengths import compare_lengths
from specctl.domain.trial.losslessness import compare_outputs, excess_p, pair_outputs
from specctl.domain.trial.parting import first_parting
from specctl.domain.trial.predicting import Foreseen
from specctl.domain.trial.running import kept_blocks, stand
from specctl.domain.trial.traffic import deviations, extend_to_traffic
from specctl.domain.trial.words import find_reasons, say_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.energy import EnergyStanding
    from specctl.domain.probe import ProbeResult
    from specctl.domain.trial.lengths import Lengths
    from specctl.domain.trial.looks import Look
    from specctl.domain.trial.losslessness import Sameness
    from specctl.domain.trial.parting import Parting
    from specctl.domain.trial.running import TrialBlock, TrialPlan
    from specctl.domain.trial.traffic import Deviation


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over the launches of an arm; None where no launch gave it."""

    mean: float | None = None
    low: float | None = None
    high: float | None = None
    launches: int = 0


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """One arm at one concurrency, over its launches."""

    profile: str
    tokens_per_s: Spread
    accept_length: Spread
    step_s: Spread
    ttft_s: Spread
    kv_tokens: int | None
    most_requests: int | None


@dataclass(frozen=True, slots=True)
class BreakEvenSummary:
    """What a step costs in plain steps, one number per launch: AL* with its repeated interval."""

    accept_length: float
    break_even: float
    low: float | None
    """None before the first look, and for one launch each."""

    high: float | None

    @property
    def pays(self) -> bool | None:
        """The arm accepts more than it has to; None where the interval does not tell."""
        if self.low is None or self.high is None or self.low <= self.accept_length <= self.high:
            return None
        return self.accept_length > self.high


@dataclass(frozen=True, slots=True)
class ConcurrencySummary:
    """One concurrency of a trial."""

    concurrency: int
    is_primary: bool
    word: str | None
    """None while the trial goes on, and for one launch each."""

    sentence: str
    reasons: tuple[str, ...]
    launches: tuple[int, int]
    """Used, of A and of B."""

    ratio: float | None
    """How many times faster the profile is; None without a launch of each."""

    low: float | None
    """Of its repeated interval; None before the first look."""

    high: float | None
    traffic_low: float | None
    traffic_high: float | None
    spread: float | None
    """Between launches of one arm, as a share."""

    arms: tuple[ArmSummary, ArmSummary]
    break_even: BreakEvenSummary | None
    categories: tuple[Deviation, ...]
    outputs: Sameness | None
    """Between the arms; None unless greedy."""

    outputs_within: Sameness | None
    """Between all launches of the baseline, against which the other is to be read."""

    excess_p: float | None
    """Small where the first launches of the arms differ in more prompts than two of one arm."""

    suspects: tuple[str, ...]
    energy: EnergyStanding | None = None
    """Joules per output token of either arm."""

    lengths: Lengths | None = None
    """Of the answers of either arm; None without a prompt that all answered."""

    prediction: Foreseen = field(default_factory=Foreseen)
    """From runs before the trial, beside what it measured."""

    parting: Parting | None = None
    """Where the arms' answers differ first; None where none does, and unless greedy."""


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """A trial, added up."""

    plan: TrialPlan
    concurrencies: tuple[ConcurrencySummary, ...]
    lost: tuple[tuple[str, int], ...]
    """Launches that could not be used, by reason."""

    ended: str
    is_open: bool
    """More launches would follow."""


def summarise(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> TrialSummary:
    """The summary of these launches."""
    standing = stand(plan, blocks)
    kept = [block for _, block in sorted(kept_blocks(plan, blocks).items())]
    return TrialSummary(
        plan=plan,
        concurrencies=tuple(
            _summarise_one(plan, blocks, kept, concurrency) for concurrency in plan.concurrencies
        ),
        lost=tuple(standing.lost.items()),
        ended=standing.ended,
        is_open=standing.next is not None,
    )


def _summarise_one(
    plan: TrialPlan, blocks: Sequence[TrialBlock], kept: Sequence[TrialBlock], concurrency: int
) -> ConcurrencySummary:
    verdict = stand(plan, blocks).verdicts[concurrency]
    place = plan.concurrencies.index(concurrency)
    sides = [[b.results[place] for b in kept if b.side == side] for side in ("A", "B")]
    look, levels = verdict.clean.look, verdict.clean.levels
    usable = [[result for result in side if not result.void] for side in sides]
    arms = (_arm(plan.baseline, usable[0], kept, "A"), _arm(plan.profile, usable[1], kept, "B"))
    means = [fmean(levels.of(side)) if levels and levels.of(side) else None for side in ("A", "B")]
    ratio = None if means[0] is None or means[1] is None else exp(means[1] - means[0])
    traffic = extend_to_traffic(look.fit, levels) if look and levels else None
    outputs, within, excess = _outputs(plan, sides)
    measured = look.fit.ratio if look else ratio
    return ConcurrencySummary(
        concurrency=concurrency,
        is_primary=place == 0,
        word=verdict.word.value if verdict.word else None,
        sentence=say_verdict(verdict, plan.design, (len(sides[0]), len(sides[1])))
        + warm_words(plan.trained_on),
        reasons=find_reasons(verdict, plan.design),
        launches=(len(sides[0]), len(sides[1])),
        ratio=measured,
        low=look.low if look else None,
        high=look.high if look else None,
        traffic_low=traffic[0] if traffic else None,
        traffic_high=traffic[1] if traffic else None,
        spread=look.fit.spread if look else None,
        arms=arms,
        break_even=_break_even(kept, place, look, floor=plan.design.floor),
        categories=deviations(levels, _categories(sides[0])) if levels and ratio else (),
        outputs=outputs,
        outputs_within=within,
        excess_p=excess,
        suspects=_suspects(measured, sides[1], kept),
        energy=energy_standing(*usable),
        lengths=compare_lengths(*usable),
        prediction=plan.predicted_at(concurrency).beside(measured),
        parting=first_parting(plan, blocks, concurrency),
    )


def _arm(
    profile: str, results: Sequence[ProbeResult], kept: Sequence[TrialBlock], side: str
) -> ArmSummary:
    blocks = [block for block in kept if block.side == side]
    return ArmSummary(
        profile=profile,
        tokens_per_s=_spread(results, lambda result: result.tokens_per_s),
        accept_length=_spread(results, lambda result: result.accept_length),
        step_s=_spread(results, lambda result: result.step_s),
        ttft_s=_spread(results, lambda result: result.ttft_p50_s),
        kv_tokens=blocks[-1].kv_tokens if blocks else None,
        most_requests=blocks[-1].most_requests if blocks else None,
    )


def _spread(
    results: Sequence[ProbeResult], figure: Callable[[ProbeResult], float | None]
) -> Spread:
    found = [value for result in results if (value := figure(result)) is not None]
    return Spread(fmean(found), min(found), max(found), len(found)) if found else Spread()


def _break_even(
    kept: Sequence[TrialBlock], place: int, look: Look | None, *, floor: float
) -> BreakEvenSummary | None:
    """Log AL* = log T_step(B) - log T_base(A), by launches as any other difference.

    Void windows count for nothing; the interval is that of the look, at its level.
    """
    usable = [(block, block.results[place]) for block in kept if not block.results[place].void]
    timed = [(block, result.step_s) for block, result in usable if result.step_s is not None]
    lengths = [
        result.accept_length
        for block, result in usable
        if block.side == "B" and result.accept_length is not None
    ]
    costs = {
        side: [log(step_s) for block, step_s in timed if step_s and block.side == side]
        for side in ("A", "B")
    }
    if not lengths or not costs["A"] or not costs["B"]:
        return None
    fit = fit_levels(
        [-log(step_s) for _, step_s in timed if step_s],
        [block.side for block, step_s in timed if step_s],
        [block.middle_s for block, step_s in timed if step_s],
        floor=floor,
    )
    if fit is None or look is None:
        star = exp(fmean(costs["B"]) - fmean(costs["A"]))
        return BreakEvenSummary(fmean(lengths), star, None, None)
    low, high = fit.interval(look.level)
    return BreakEvenSummary(fmean(lengths), exp(-fit.theta), exp(-high), exp(-low))


def _categories(results: Sequence[ProbeResult]) -> dict[str, str]:
    return {str(r.index): r.category for result in results for r in result.requests}


def _outputs(
    plan: TrialPlan, sides: Sequence[Sequence[ProbeResult]]
) -> tuple[Sameness | None, Sameness | None, float | None]:
    """A prompt counts as the same when it is in every compared pair of launches."""
    base, other = sides
    if plan.temperature != 0 or not base or not other:
        return None, None, None
    between = pair_outputs([(a, b) for a in base for b in other])
    within = pair_outputs([(base[0], a) for a in base[1:]])
    return (
        compare_outputs(list(between.values())),
        compare_outputs(list(within.values())) if within else None,
        _excess(base, other) if within else None,
    )


def _excess(base: Sequence[ProbeResult], other: Sequence[ProbeResult]) -> float:
    """Of one pair of launches between the arms and one within the baseline.

    More pairs on one side would differ more often by their number alone.
    """
    between, within = pair_outputs([(base[0], other[0])]), pair_outputs([(base[0], base[1])])
    both = sorted(between.keys() & within.keys())
    return excess_p([between[i].is_same for i in both], [within[i].is_same for i in both])


def _suspects(
    ratio: float | None, results: Sequence[ProbeResult], kept: Sequence[TrialBlock]
) -> tuple[str, ...]:
    speculated = [result for result in results if result.algorithm is not None]
    if not speculated:
        return ()
    last = speculated[-1]
    return find_suspects(
        speedup=ratio,
        accept_length=last.accept_length,
        steps=[block.draft_steps for block in kept if block.side == "B"][-1],
        marginals=last.marginal_acceptance,
    )
