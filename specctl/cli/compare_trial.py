"""`specctl compare` with several launches of two profiles: a trial with a verdict."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from specctl.cli.diagnostics import INTERRUPTED, say, warn
from specctl.cli.output import style, write, write_json
from specctl.cli.running import finder, fleet_of
from specctl.cli.table import table
from specctl.cli.trial_progress import TrialAnnouncer, is_trial_agreed
from specctl.domain.comparison_rows import difference_words
from specctl.domain.errors import UsageError
from specctl.domain.plain import plain
from specctl.domain.training import with_label
from specctl.domain.trial.published import publish
from specctl.domain.trial.rows import (
    CATEGORY_HEADERS,
    HEADERS,
    RIGHT,
    category_rows,
    trial_rows,
    trial_words,
)
from specctl.domain.trial.running import final_word
from specctl.domain.trial.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specctl.adapters.ledger import Ledger
    from specctl.cli.invocation import Invocation
    from specctl.domain.profile import Profile
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.published import PublishedTrial
    from specctl.domain.trial.summary import TrialSummary
    from specctl.services.fleet import Fleet
    from specctl.services.probing import Settings
    from specctl.services.trial import TrialOutcome
    from specctl.services.trial_plan import Proposal


@contextmanager
def open_ledger() -> Iterator[Ledger]:
    """The operator's ledger."""
    from specctl.adapters.ledger import Ledger
    from specctl.adapters.paths import ledger_file

    ledger = Ledger(ledger_file())
    try:
        yield ledger
    finally:
        ledger.close()


async def run_new(
    invocation: Invocation,
    host: str,
    names: Sequence[str],
    settings: Sequence[Settings],
    design: Design,
    *,
    source: str,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> TrialOutcome | None:
    """Plan, ask and run a trial; None after a dry run."""
    with open_ledger() as ledger:
        async with fleet_of(invocation) as fleet:
            return await try_two(
                fleet, ledger, names, settings, design, host=host, source=source,
                budget_s=budget_s, is_dry=is_dry, yes=yes,
            )  # fmt: skip


async def try_two(
    fleet: Fleet,
    ledger: Ledger,
    names: Sequence[str],
    settings: Sequence[Settings],
    design: Design,
    *,
    host: str,
    source: str,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> TrialOutcome | None:
    """The same, for a fleet and a ledger that are open."""
    from specctl.adapters.secrets import Secrets
    from specctl.services.trial_plan import plan_trial

    profiles = _two(fleet, host, names)
    proposal = await plan_trial(
        await fleet.connect(host),
        profiles,
        settings,
        design,
        find=finder(fleet, host),
        secrets=Secrets.load(),
        clock=fleet.clock,
        ledger=ledger,
        workload_source=source,
    )
    return await _agree_and_run(fleet, ledger, proposal, budget_s=budget_s, is_dry=is_dry, yes=yes)


async def resume(
    invocation: Invocation,
    run_id: str,
    *,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> TrialOutcome | None:
    """Go on with a trial of the ledger."""
    from specctl.adapters.secrets import Secrets
    from specctl.services.finished import refuse_finished
    from specctl.services.trial import read_trial
    from specctl.services.trial_plan import plan_resumption, settings_again

    with open_ledger() as ledger:
        plan, _ = read_trial(ledger, run_id)
        refuse_finished(ledger, run_id)
        settings = settings_again(plan, invocation.workspace().root)
        async with fleet_of(invocation) as fleet:
            profiles = _two(fleet, plan.host, (plan.baseline, plan.profile))
            proposal = await plan_resumption(
                await fleet.connect(plan.host),
                plan,
                profiles,
                settings,
                find=finder(fleet, plan.host),
                secrets=Secrets.load(),
                clock=fleet.clock,
                ledger=ledger.path,
            )
            return await _agree_and_run(
                fleet, ledger, proposal, budget_s=budget_s, is_dry=is_dry, yes=yes
            )


def _two(fleet: Fleet, host: str, names: Sequence[str]) -> tuple[Profile, Profile]:
    base, other = names
    if base == other:
        raise UsageError(
            "a comparison needs two different profiles",
            hint="Copy the profile under another name for an A/A trial.",
        )
    from specctl.services.arm_profile import arm_profile

    return arm_profile(fleet.workspace, base, host), arm_profile(fleet.workspace, other, host)


async def _agree_and_run(
    fleet: Fleet,
    ledger: Ledger,
    proposal: Proposal,
    *,
    budget_s: float | None,
    is_dry: bool,
    yes: bool,
) -> TrialOutcome | None:
    from specctl.adapters.secrets import Secrets
    from specctl.services.trial import run_trial

    if not is_trial_agreed(proposal, budget_s, is_dry=is_dry, yes=yes):
        return None
    fleet.store.subscribe(TrialAnnouncer().take)
    say(f"trial {proposal.plan.id}; Ctrl-C keeps what is measured")
    return await run_trial(
        await fleet.connect(proposal.plan.host),
        proposal,
        secrets=Secrets.load(),
        store=fleet.store,
        clock=fleet.clock,
        ledger=ledger,
        budget_s=budget_s,
    )


def write_outcome(outcome: TrialOutcome, *, as_json: bool) -> int:
    """Print a trial; its exit status."""
    summary = summarise(outcome.plan, outcome.blocks)
    if as_json:
        write_json("trial", plain(publish_outcome(outcome)))
    else:
        for one in outcome.differences:
            write(difference_words(one))
        write_summary(summary)
        for words in outcome.restored:
            write(words)
    if outcome.ended and not summary.ended:
        warn(f"{outcome.ended}; go on with  specctl compare --resume {outcome.plan.id}")
    if outcome.is_interrupted:
        warn(f"interrupted; go on with  specctl compare --resume {outcome.plan.id}")
        return INTERRUPTED
    return 0 if final_word(outcome.plan, outcome.standing) or not summary.is_open else 1


def publish_outcome(outcome: TrialOutcome) -> PublishedTrial:
    """A trial that was just run, as it is printed."""
    word = final_word(outcome.plan, outcome.standing)
    return publish(
        summarise(outcome.plan, outcome.blocks),
        verdict=word.value if word else None,
        ended=outcome.ended,
        interrupted=outcome.is_interrupted,
        differences=outcome.differences,
        restored=outcome.restored,
    )


def write_summary(summary: TrialSummary) -> None:
    """A trial as text."""
    plan = summary.plan
    workload = with_label(plan.workload, plan.trained_on)
    write(style(f"{plan.host}  {workload}  trial {plan.id}", "bold"))
    for line in table(HEADERS, trial_rows(summary), right=RIGHT):
        write(line)
    for one in summary.concurrencies:
        rows = category_rows(one)
        if rows and one.is_primary:
            write()
            for line in table(CATEGORY_HEADERS, rows, right="prompts times-faster against-all"):
                write(line)
    write()
    *rest, last = trial_words(summary)
    for words in rest:
        write(words)
    write(style(last, "bold"))
