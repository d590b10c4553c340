"""`specctl compare` with several candidates: a screening, then a trial of the one that is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.compare_trial import (
    open_ledger,
    publish_outcome,
    resume,
    write_summary,
)
from specctl.cli.diagnostics import INTERRUPTED, say, warn
from specctl.cli.output import style, write, write_json
from specctl.cli.running import finder, fleet_of
from specctl.cli.table import table
from specctl.cli.trial_progress import TrialAnnouncer, is_trial_agreed
from specctl.domain.comparison_rows import difference_words
from specctl.domain.errors import RefusedError, UsageError
from specctl.domain.plain import plain
from specctl.domain.runs import RunKind
from specctl.domain.training import with_label
from specctl.domain.trial.points import grid, read_axis
from specctl.domain.trial.running import final_word
from specctl.domain.trial.screening_published import publish_screening
from specctl.domain.trial.screening_words import (
    RANKING_HEADERS,
    RANKING_RIGHT,
    ranking_rows,
    screening_words,
)
from specctl.domain.trial.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.ledger import Ledger
    from specctl.cli.invocation import Invocation
    from specctl.domain.profile import Profile
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.screening_plan import Omitted, ScreeningPlan
    from specctl.domain.trial.screening_running import ScreeningStanding
    from specctl.services.fleet import Fleet
    from specctl.services.probing import Settings
    from specctl.services.screening import ScreeningOutcome
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial import TrialOutcome


async def screen_new(
    invocation: Invocation,
    host: str,
    names: Sequence[str],
    settings: Sequence[Settings],
    design: Design,
    *,
    axes: Sequence[str],
    source: str,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> ScreeningOutcome | TrialOutcome | None:
    """Plan, ask, screen and try; a grid of which one point is sound is tried at once."""
    from specctl.adapters.secrets import Secrets
    from specctl.cli.compare_trial import try_two
    from specctl.services.screening_plan import plan_screening

    with open_ledger() as ledger:
        async with fleet_of(invocation) as fleet:
            arms, omitted = await _arms(fleet, host, names, axes)
            if len(arms) == 2:  # noqa: PLR2004 - nothing to choose from
                for one in omitted:
                    say(f"leave out {one.profile}: {one.reason}")
                return await try_two(
                    fleet, ledger, [arm.name for arm in arms], settings, design, host=host,
                    source=source, budget_s=budget_s, is_dry=is_dry, yes=yes,
                )  # fmt: skip
            proposal = await plan_screening(
                await fleet.connect(host),
                arms,
                settings,
                design,
                find=finder(fleet, host),
                secrets=Secrets.load(),
                clock=fleet.clock,
                workload_source=source,
                omitted=omitted,
                ledger=ledger.path,
            )
            return await _agree_and_screen(
                fleet, ledger, proposal, budget_s=budget_s, is_dry=is_dry, yes=yes
            )


async def _arms(
    fleet: Fleet, host: str, names: Sequence[str], axes: Sequence[str]
) -> tuple[tuple[Profile, ...], tuple[Omitted, ...]]:
    """The baseline and what is tried against it, and the points of the grid that are not."""
    from specctl.services.arm_profile import arm_profile
    from specctl.services.screening_plan import sift

    if len(set(names)) != len(names):
        raise UsageError("a profile is named twice", hint="Name each once.")
    profiles = tuple(arm_profile(fleet.workspace, name, host) for name in names)
    if not axes:
        return profiles, ()
    if len(profiles) != 2:  # noqa: PLR2004
        raise UsageError(
            "--over goes over one profile against its baseline",
            hint="specctl compare HOST BASELINE PROFILE --over num-steps=1,3,5",
        )
    base, profile = profiles
    own = tuple(profile.speculation.arguments) if profile.speculation else ()
    points = grid(profile, [read_axis(axis, own) for axis in axes])
    say(f"reading the build of {host}: which of {len(points)} points it would run")
    sound, omitted = await sift(await fleet.connect(host), points)
    if not sound:
        raise RefusedError(
            f"host {host}: no point of the grid would run: {_why(omitted)}",
            hint=f"specctl check {profile.name} --on {host} says what the build takes.",
        )
    return (base, *sound), omitted


def _why(omitted: Sequence[Omitted]) -> str:
    return "; ".join(f"{one.profile}: {one.reason}" for one in omitted)


async def go_on(
    invocation: Invocation, run_id: str, *, budget_s: float | None, is_dry: bool, yes: bool
) -> ScreeningOutcome | TrialOutcome | None:
    """Go on with a trial or a screening of the ledger."""
    with open_ledger() as ledger:
        kind = ledger.run(run_id).kind
    again = resume_screening if kind is RunKind.SCREENING else resume
    return await again(invocation, run_id, budget_s=budget_s, is_dry=is_dry, yes=yes)


async def resume_screening(
    invocation: Invocation,
    run_id: str,
    *,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> ScreeningOutcome | None:
    """Go on with a screening of the ledger, or with its trial."""
    from specctl.adapters.secrets import Secrets
    from specctl.services.arm_profile import arm_profile
    from specctl.services.finished import refuse_finished
    from specctl.services.screening_keeping import read_screening
    from specctl.services.screening_plan import plan_screening_resumption
    from specctl.services.trial_plan import settings_again

    with open_ledger() as ledger:
        kept, _ = read_screening(ledger, run_id)
        refuse_finished(ledger, run_id)
        plan = kept.plan
        settings = settings_again(plan, invocation.workspace().root)
        async with fleet_of(invocation) as fleet:
            proposal = await plan_screening_resumption(
                await fleet.connect(plan.host),
                plan,
                [arm_profile(fleet.workspace, arm, plan.host) for arm in plan.arms],
                settings,
                trial=kept.trial,
                find=finder(fleet, plan.host),
                secrets=Secrets.load(),
                clock=fleet.clock,
            )
            return await _agree_and_screen(
                fleet, ledger, proposal, budget_s=budget_s, is_dry=is_dry, yes=yes
            )


async def _agree_and_screen(
    fleet: Fleet,
    ledger: Ledger,
    proposal: ScreeningProposal,
    *,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> ScreeningOutcome | None:
    from specctl.adapters.secrets import Secrets
    from specctl.services.screening import run_screening

    if not is_trial_agreed(proposal, budget_s, is_dry=is_dry, yes=yes):
        return None
    fleet.store.subscribe(TrialAnnouncer().take)
    say(f"screening {proposal.plan.id}; Ctrl-C keeps what is measured")
    return await run_screening(
        await fleet.connect(proposal.plan.host),
        proposal,
        secrets=Secrets.load(),
        store=fleet.store,
        clock=fleet.clock,
        ledger=ledger,
        budget_s=budget_s,
    )


def write_screened(outcome: ScreeningOutcome, *, as_json: bool) -> int:
    """Print a screening and its trial; the exit status."""
    trial = outcome.trial
    if as_json:
        document = publish_screening(
            outcome.plan,
            outcome.standing,
            trial_id=trial.plan.id if trial else None,
            trial=publish_outcome(trial) if trial else None,
            ended=outcome.ended,
            interrupted=outcome.is_interrupted or bool(trial and trial.is_interrupted),
            differences=outcome.differences,
            restored=outcome.restored,
        )
        write_json("screening", plain(document))
    else:
        for one in outcome.differences:
            write(difference_words(one))
        write_ranking(outcome.plan, outcome.standing, trial.plan.profile if trial else None)
        if trial is not None:
            write()
            write_summary(summarise(trial.plan, trial.blocks))
        for words in outcome.restored:
            write(words)
    return _status(outcome)


def _status(outcome: ScreeningOutcome) -> int:
    trial, again = outcome.trial, f"go on with  specctl compare --resume {outcome.plan.id}"
    if outcome.is_interrupted or (trial is not None and trial.is_interrupted):
        warn(f"interrupted; {again}")
        return INTERRUPTED
    if trial is not None:
        standing = trial.standing
        if trial.ended and not standing.ended:
            warn(f"{trial.ended}; {again}")
        return 0 if final_word(trial.plan, standing) or standing.next is None else 1
    warn(f"no verdict: {outcome.ended or 'there was no time for the trial'}; {again}")
    return 1


def write_ranking(
    plan: ScreeningPlan, standing: ScreeningStanding, survivor: str | None = None
) -> None:
    """A screening as text."""
    workload = with_label(plan.workload, plan.trained_on)
    write(style(f"{plan.host}  {workload}  screening {plan.id}", "bold"))
    for line in table(RANKING_HEADERS, ranking_rows(standing, survivor), right=RANKING_RIGHT):
        write(line)
    write()
    *rest, last = screening_words(plan, standing, survivor)
    for words in rest:
        write(words)
    write(style(last, "bold"))
