"""Runs of the ledger as the figures that advice, costs and expectations rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures, add_arm
from specctl.domain.runs import RunKind
from specctl.domain.trial.first_tokens import find_first_tokens
from specctl.domain.trial.running import kept_blocks, stand
from specctl.domain.trial.summary import summarise
from specctl.domain.trial.trial_json import block_of, plan_of
from specctl.domain.trial.words import why_unsure
from specctl.services.kept_comparison import result_of
from specctl.services.runs import find_evidence, probe_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.adapters.evidence import Evidence
    from specctl.adapters.ledger import Ledger
    from specctl.domain.probe import ProbeResult
    from specctl.domain.runs import Run
    from specctl.domain.trial.running import TrialBlock, TrialPlan


NO_FIGURES = {
    RunKind.LAUNCH: (
        "nothing was measured in it",
        "specctl runs list --kind trial shows what was.",
    ),
    RunKind.ACCEPTANCE: (
        "its accept lengths were made up",
        "specctl runs show prints what they would bring.",
    ),
    RunKind.FORECAST: (
        "nothing was measured in it",
        "A trial is predicted from it: specctl compare.",
    ),
    RunKind.SCREENING: (
        "it only chose whom a trial is about",
        "specctl runs list --kind trial shows the trial.",
    ),
}
"""Why a run has none, and what to do instead."""

OPEN_LOOP = "requests came at a rate, so its steps are of no one batch size"


def find_figures(ledger: Ledger, names: Sequence[str]) -> tuple[RunFigures, ...]:
    """The figures of these runs or bundles; raises UsageError for what measured nothing."""
    return tuple(figures_of(find_evidence(ledger, name)) for name in names)


def figures_of(evidence: Evidence) -> RunFigures:
    """What one run measured; raises UsageError when that is nothing."""
    run = evidence.run
    try:
        if run.kind is RunKind.TRIAL:
            return _of_trial(evidence)
        if run.kind is RunKind.COMPARISON:
            return _of_comparison(run)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"run {run.id} is damaged: {error}") from error
    if run.kind is RunKind.PROBE:
        return _of_probe(run)
    words, hint = NO_FIGURES[run.kind]
    raise UsageError(f"run {run.id} is a {run.kind.value}: {words}", hint=hint)


def _figures(
    run: Run, pairs: Sequence[PairFigures], arms: Sequence[ArmFigures], void: str = ""
) -> RunFigures:
    found = run.provenance
    return RunFigures(
        run=run.id,
        kind=run.kind.value,
        host=run.where,
        workload_sha256=found.workload_sha256,
        build=found.build,
        recipes=found.recipes,
        pairs=tuple(pairs),
        arms=tuple(arms),
        knows_adaptive_config=_knows_adaptive_config(found.arguments),
        is_simulated=found.is_simulated,
        workload=found.workload,
        trained_on=found.trained_on,
        void=void,
    )


def _knows_adaptive_config(arguments: Mapping[str, Mapping[str, Any]]) -> bool | None:
    """Whether a speculating server of the run has the flag; None when none says its arguments."""
    resolved = [found for found in arguments.values() if "speculative_algorithm" in found]
    return any("speculative_adaptive_config" in found for found in resolved) if resolved else None


def _of_trial(evidence: Evidence) -> RunFigures:
    run = evidence.run
    plan = plan_of(run.document)
    blocks = [block_of(block) for block in evidence.blocks]
    kept = [block for _, block in sorted(kept_blocks(plan, blocks).items())]
    summary, verdicts = summarise(plan, blocks), stand(plan, blocks).verdicts
    pairs: list[PairFigures] = []
    for place, one in enumerate(summary.concurrencies):
        base = _arm_of_trial(run, plan, kept, "A", place)
        arm = _arm_of_trial(run, plan, kept, "B", place)
        if base is not None and arm is not None:
            unsure = why_unsure(verdicts[one.concurrency])
            first = find_first_tokens(_usable(kept, "A", place), _usable(kept, "B", place))
            pairs.append(
                PairFigures(run.id, base, arm, one.ratio, one.low, one.high, unsure, first)
            )
    arms = [figures for pair in pairs for figures in (pair.base, pair.arm)]
    return _figures(run, pairs, arms, "" if pairs else _why_none(kept))


def _arm_of_trial(
    run: Run, plan: TrialPlan, kept: Sequence[TrialBlock], side: str, place: int
) -> ArmFigures | None:
    results = _usable(kept, side, place)
    if not results:
        return None
    blocks = [block for block in kept if block.side == side and not block.results[place].void]
    name = plan.baseline if side == "A" else plan.profile
    arguments = run.provenance.arguments.get(name, {})
    size = str(plan.concurrencies[place])
    recorded = [b.recorded_step_s[size] for b in blocks if size in b.recorded_step_s]
    return add_arm(name, plan.concurrencies[place], results, arguments, recorded)


def _usable(kept: Sequence[TrialBlock], side: str, place: int) -> list[ProbeResult]:
    """Windows of one arm at one concurrency that are not void."""
    return [b.results[place] for b in kept if b.side == side and not b.results[place].void]


def _why_none(kept: Sequence[TrialBlock]) -> str:
    reasons = [words for block in kept for result in block.results for words in result.void]
    return f"its windows are void: {reasons[0]}" if reasons else "no launch of each arm was usable"


def _of_comparison(run: Run) -> RunFigures:
    document = run.document
    concurrency = int(document["concurrency"])
    arms: dict[str, ArmFigures] = {}
    results: dict[str, ProbeResult] = {}
    for found in document["arms"]:
        if found["result"] is not None and not found["result"]["void"]:
            name = found["profile"]
            arguments = run.provenance.arguments.get(name, {})
            results[name] = result_of(found["result"])
            arms[name] = add_arm(name, concurrency, [results[name]], arguments)
    base = arms.get(document["baseline"])
    pairs = [
        PairFigures(
            run.id,
            base,
            arms[found["profile"]],
            found["speedup"],
            first_tokens=find_first_tokens([results[base.profile]], [results[found["profile"]]]),
        )
        for found in document["standings"]
        if base is not None and found["profile"] in arms
    ]
    void = "" if pairs else "no arm gave a result beside the baseline's"
    return _figures(run, pairs, tuple(arms.values()), void)


def _of_probe(run: Run) -> RunFigures:
    result = probe_of(run)
    name = run.profiles[0] if run.profiles else result.server
    arguments = run.provenance.arguments.get(name, {})
    arm = add_arm(name, result.concurrency, [result], arguments)
    void = result.void[0] if result.void else OPEN_LOOP if result.open_loop else ""
    return _figures(run, (), (arm,), void)
