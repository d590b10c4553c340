"""`specctl compare HOST BASELINE PROFILE…`: one launch each, or a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from specctl.cli.agreeing import is_agreed
from specctl.cli.compare_options import CONCURRENCIES, LAUNCHES, trial_options
from specctl.cli.compare_screening import go_on, screen_new, write_screened
from specctl.cli.compare_text import write_comparison
from specctl.cli.compare_trial import run_new as run_trial
from specctl.cli.compare_trial import write_outcome
from specctl.cli.diagnostics import INTERRUPTED, say
from specctl.cli.invocation import json_option, yes_option
from specctl.cli.output import write_json
from specctl.cli.probe import BUNDLED, Announcer, read_prompts
from specctl.cli.running import finder, fleet_of, keeper_of, run, say_kept
from specctl.domain.errors import UsageError
from specctl.domain.events import RESTORING, PlanProgressed
from specctl.domain.figures import spoken
from specctl.domain.probe_json import comparison_json
from specctl.domain.trial.asking import design_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.comparison import Comparison
    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.comparison import ComparisonPlan
    from specctl.services.probing import Settings
    from specctl.services.screening import ScreeningOutcome
    from specctl.services.trial import TrialOutcome


@click.command()
@click.argument("names", nargs=-1, metavar="HOST BASELINE PROFILE...")
@click.option(
    "--workload", default="mixed", show_default=True, metavar="NAME|FILE",
    help=f"{BUNDLED}, or a JSONL file of prompts.",
)  # fmt: skip
@click.option(
    "--trained-on", metavar="NAME|FILE",
    help="Send these prompts before each window, unmeasured; none may be in --workload.",
)  # fmt: skip
@click.option(
    "--concurrency", type=CONCURRENCIES, default="1", show_default=True,
    help="Requests at the same time; of several the verdict is about the first.",
)  # fmt: skip
@click.option("--prompts", type=click.IntRange(1), metavar="N", help="At most so many prompts.")
@trial_options
@click.option("--resume", metavar="TRIAL", help="Go on with a trial that was cut off.")
@click.option("--dry-run", is_flag=True, help="Show what would be done and do nothing.")
@yes_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    names: tuple[str, ...],
    *,
    workload: str,
    trained_on: str | None,
    concurrency: tuple[int, ...],
    prompts: int | None,
    launches: int | None,
    margin: float,
    strict: bool,
    is_looked_at_once: bool,
    over: tuple[str, ...],
    budget: float | None,
    resume: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Say whether a profile is faster than its baseline, and how well that is known.

    Two profiles are launched in turn, several times each, until a word can be said: faster,
    slower, no material difference, or not enough evidence. More than two are launched once each,
    which gives numbers and no verdict; with --budget or --launches, and with --over, they are
    screened in rounds, those that lag leave, and the one that is left gets a trial of its own.
    What runs now and is in the way has to be under specctl's care: it is started again at the
    end. Ctrl-C keeps what is measured.

    \b
    specctl compare gpu8 mimo-7b-baseline mimo-7b-nextn --dry-run
    specctl compare gpu8 mimo-7b-baseline mimo-7b-nextn --budget 3h
    specctl compare gpu8 kimi-baseline kimi-eagle3 kimi-ngram --budget 3h
    specctl compare gpu8 kimi-baseline kimi-eagle3 --over num-steps=1,3,5
    specctl compare gpu8 base ngram --workload real.jsonl --trained-on past.jsonl
    """  # noqa: D301  click reads \b
    from specctl.adapters.workloads import lasting_name

    asked = Asked(concurrency, launches, budget, is_strict=strict or is_looked_at_once, axes=over)
    if resume is not None:
        _refuse_more(names, over, trained_on)
        coming = go_on(invocation, resume, budget_s=budget, is_dry=dry_run, yes=yes)
        return _end_trial(run(coming), as_json=as_json)
    host, profiles = _split(names)
    settings = _settings(invocation, workload, trained_on, concurrency, prompts)
    most = _launches(asked, len(profiles))
    if most == 1:
        found = run(_compare(invocation, host, profiles, settings[0], is_dry=dry_run, yes=yes))
        return _end_comparison(found, as_json=as_json)
    source = lasting_name(workload, invocation.workspace().root)
    design = design_of(most, margin, strict=strict, is_looked_at_once=is_looked_at_once)
    if over or len(profiles) > 2:  # noqa: PLR2004
        coming = screen_new(invocation, host, profiles, settings, design, axes=over, source=source,
                            budget_s=budget, is_dry=dry_run, yes=yes)  # fmt: skip
    else:
        coming = run_trial(invocation, host, profiles, settings, design, source=source,
                           budget_s=budget, is_dry=dry_run, yes=yes)  # fmt: skip
    return _end_trial(run(coming), as_json=as_json)


def _refuse_more(*named: object) -> None:
    if any(named):
        raise UsageError("--resume takes everything from the trial", hint="Name nothing else.")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options ask for."""

    concurrencies: tuple[int, ...]
    launches: int | None
    budget_s: float | None
    is_strict: bool
    axes: tuple[str, ...] = ()

    @property
    def is_trial(self) -> bool:
        """Something was asked for that only a trial has."""
        is_more = len(self.concurrencies) > 1 or self.is_strict or bool(self.axes)
        return is_more or self.budget_s is not None


def _split(names: Sequence[str]) -> tuple[str, Sequence[str]]:
    if len(names) < 3:  # noqa: PLR2004 - host, baseline, profile
        raise UsageError(
            "a comparison needs a host, a baseline and at least one other profile",
            hint="specctl compare HOST BASELINE PROFILE",
        )
    return names[0], names[1:]


def _launches(asked: Asked, profiles: int) -> int:
    """Of each arm; raises UsageError for options that do not go together."""
    is_trial = asked.is_trial or profiles == 2  # noqa: PLR2004
    most = asked.launches or (LAUNCHES if is_trial else 1)
    if most == 1 and asked.is_trial:
        raise UsageError(
            "--budget, --strict, --one-look, --over and several concurrencies belong to a trial",
            hint="Ask for --launches 8.",
        )
    return most


def _settings(
    invocation: Invocation,
    workload: str,
    trained_on: str | None,
    concurrencies: Sequence[int],
    prompts: int | None,
) -> tuple[Settings, ...]:
    from specctl.adapters.workloads import lasting_name
    from specctl.services.probing import Settings

    measured, training = read_prompts(invocation, workload, trained_on, prompts)
    root = invocation.workspace().root
    source = "" if trained_on is None else lasting_name(trained_on, root)
    return tuple(
        Settings(
            workload=measured,
            concurrency=concurrency,
            most_prompts=prompts,
            training=training,
            training_source=source,
        )
        for concurrency in concurrencies
    )


def _end_trial(outcome: ScreeningOutcome | TrialOutcome | None, *, as_json: bool) -> int:
    from specctl.services.trial import TrialOutcome

    if outcome is None:
        return 0
    if isinstance(outcome, TrialOutcome):
        return write_outcome(outcome, as_json=as_json)
    return write_screened(outcome, as_json=as_json)


def _end_comparison(found: Comparison | None, *, as_json: bool) -> int:
    if found is None:
        return 0
    if as_json:
        write_json("compare", comparison_json(found))
    else:
        write_comparison(found)
    return _status(found)


async def _compare(
    invocation: Invocation,
    host: str,
    names: Sequence[str],
    settings: Settings,
    *,
    is_dry: bool,
    yes: bool,
) -> Comparison | None:
    from specctl.adapters.secrets import Secrets
    from specctl.services.comparison import compare, plan_comparison

    async with fleet_of(invocation) as fleet:
        workspace, secrets = fleet.workspace, Secrets.load()
        profiles = [workspace.profile(name, on=host) for name in names]
        connection = await fleet.connect(host)
        plan = await plan_comparison(
            connection,
            profiles,
            settings,
            find=finder(fleet, host),
            secrets=secrets,
            clock=fleet.clock,
        )
        remarks = _loads_words(plan)
        if not is_agreed(host, plan.steps, plan.refusals, remarks=remarks, is_dry=is_dry, yes=yes):
            return None
        fleet.store.subscribe(Announcer().take)
        fleet.store.subscribe(_say_steps)
        began_s = fleet.clock.now()
        found = await compare(
            connection, plan, secrets=secrets, store=fleet.store, clock=fleet.clock
        )
        keeper = keeper_of(fleet)
        kept = await keeper.keep_comparison(
            connection,
            profiles,
            workload=settings.workload,
            comparison=found,
            began_s=began_s,
        )
        say_kept(keeper, kept)
        return found


def _loads_words(plan: ComparisonPlan) -> Sequence[str]:
    if plan.expected_s is None:
        return ()
    return (f"earlier loads here took {spoken(plan.expected_s)} together",)


def _say_steps(event: Event, _state: State) -> None:
    """The end of a plan repeats what its last step said, unless it failed."""
    if not isinstance(event, PlanProgressed) or event.step == RESTORING:
        return
    if event.status == "failed" or (event.status == "done" and not event.is_last):
        say(event.words)


def _status(found: Comparison) -> int:
    """130 when interrupted, 1 when an arm gave no usable result."""
    if found.interrupted:
        return INTERRUPTED
    return 0 if all(arm.is_usable for arm in found.arms) else 1
