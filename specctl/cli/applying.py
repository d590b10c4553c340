"""From a plan to its outcome on the command line: shown, allowed, carried out, reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.output import write, write_json
from specctl.cli.plan_text import outcome_json, plan_json, plan_lines
from specctl.cli.running import confirm, is_interactive
from specctl.domain.errors import LaunchFailedError, RefusedError, RemoteFailedError, UsageError
from specctl.domain.plan import all_next_steps

if TYPE_CHECKING:
    from specctl.domain.plan import Plan
    from specctl.services.outcome import Outcome


def show(plan: Plan, *, as_json: bool, dry_run: bool) -> None:
    """A plan that is only asked for is data; one about to be carried out is words.

    Raises RefusedError when it would be refused, also after it was only asked for.
    """
    if dry_run and as_json:
        write_json("plan", plan_json(plan))
    elif dry_run:
        for line in plan_lines(plan):
            write(line)
    else:
        diagnostics.show("\n".join(plan_lines(plan)))
    if plan.is_refused:
        words = "; ".join(f"{check.name}: {check.words}" for check in plan.refusals)
        raise RefusedError(f"host {plan.host}: {words}", hint=all_next_steps(plan.refusals))


def allow(plan: Plan, *, yes: bool, typed: str = "") -> str:
    """What was typed to allow the plan; raises when it is not allowed, or unasked."""
    if not plan.steps:
        return ""
    if plan.needs_typed is None:
        if not confirm("Go ahead?", yes=yes, default=plan.default_is_safe):
            raise click.Abort
        return ""
    if not typed and is_interactive():
        typed = click.prompt(f"{plan.why_typed} Type {plan.needs_typed} to allow it", err=True)
    if typed != plan.needs_typed:
        option = "--pid" if plan.needs_typed.isdigit() else "--confirm"
        raise UsageError(plan.why_typed, hint=f"{option} {plan.needs_typed} allows it.")
    if not is_interactive() and not yes:
        raise UsageError("Nobody can be asked here.", hint="Add --yes to go ahead.")
    return typed


def report(outcome: Outcome, *, as_json: bool) -> None:
    """Print an outcome; raises when it is a failure, so that the exit status says so."""
    if as_json:
        write_json("outcome", outcome_json(outcome))
    elif outcome.succeeded:
        write(outcome.words)
    for note in outcome.notes:
        diagnostics.say(note)
    if outcome.succeeded:
        if outcome.hint and not as_json:
            diagnostics.say(outcome.hint)
        return
    for line in outcome.log_excerpt:
        diagnostics.say(f"  {line}")
    if outcome.log_path:
        diagnostics.say(f"log: {outcome.log_path}")
    kind = LaunchFailedError if outcome.cause or outcome.log_excerpt else RemoteFailedError
    raise kind(outcome.words, hint=outcome.hint)
