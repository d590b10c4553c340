"""A plan, its progress and its outcome as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli import diagnostics
from specctl.cli.output import style
from specctl.cli.simulated import is_one_place
from specctl.domain.command import shell_lines
from specctl.domain.events import RESTORING, PlanProgressed
from specctl.domain.gpu_checks import server_words
from specctl.domain.plain import plain
from specctl.domain.plan import Level
from specctl.facts.plan_shown import shown_plan
from specctl.services.outcome import minutes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from specctl.domain.events import Event
    from specctl.domain.plan import Check, Plan
    from specctl.domain.state import State
    from specctl.services.outcome import Outcome

COLOURS = {Level.PASS: "green", Level.WARN: "yellow", Level.REFUSE: "red"}
LAST_STEPS = frozenset({"ready", "prove"})
ENDS = frozenset({"done", "failed"})
VERBS = {"start": "Start", "replace": "Stop and start", "stop": "Stop", "adopt": "Adopt"}


def plan_lines(plan: Plan) -> Iterator[str]:
    """What is stopped, done and checked, the command, and where secrets go."""
    plan = shown_plan(plan)
    yield style(f"{VERBS[plan.kind]} {plan.profile or _target(plan)} on {plan.host}", "bold")
    for server in plan.stops:
        yield f"  stops    {server_words(server)}{_requests(server.evidence.running_requests)}"
    for step in plan.steps:
        took = f"  about {minutes(step.expected_s)}" if step.expected_s else ""
        how = f" ({step.how})" if step.how else ""
        yield f"  step     {step.words}{how}{took}"
    if plan.expected_s is not None and plan.expected_from:
        yield f"  expects  {minutes(plan.expected_s)} in all, from {plan.expected_from}"
    elif plan.expected_missing:
        yield f"  expects  unknown how long: {plan.expected_missing}"
    if plan.ports:
        yield f"  ports    {', '.join(str(port) for port in plan.ports)}"
    if plan.gpus:
        yield f"  gpus     {', '.join(str(gpu) for gpu in plan.gpus)}"
    for check in plan.checks:
        yield from _check_lines(check)
    for use in plan.secrets:
        yield f"  secret   {use.name} → {use.target} in {use.words}"
    if plan.argv:
        yield ""
        yield shell_lines(plan.argv, plan.environment)


def _target(plan: Plan) -> str:
    return server_words(plan.target) if plan.target else "nothing"


def _requests(running: int | None) -> str:
    return f", {running} requests running" if running else ""


def _check_lines(check: Check) -> Iterator[str]:
    yield f"  {style(f'{check.level:<8}', COLOURS[check.level])} {check.name}: {check.words}"
    if check.next_step:
        yield f"           {style('→', 'dim')} {check.next_step}"


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan as an object; no secret is in it."""
    found: dict[str, Any] = plain(shown_plan(plan))
    return {name: value for name, value in found.items() if name != "recipe"}


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The outcome as an object."""
    found: dict[str, Any] = plain(outcome)
    found["reached"] = {str(milestone): at_s for milestone, at_s in outcome.reached}
    return found


class Announcer:
    """Says on stderr how a plan goes on; a line is said once.

    How its last step ended is what the outcome says again, so it waits for what comes next.
    """

    def __init__(self) -> None:
        self._last = ""
        self._held: PlanProgressed | None = None

    def take(self, event: Event, state: State) -> None:
        """One event of the store."""
        del state
        if not isinstance(event, PlanProgressed):
            return
        held, self._held = self._held, None
        if held is not None and not (event.is_last and _is_said_again(event)):
            self._say(held)
        if event.is_last:
            return
        if event.status in ENDS and event.step.partition(" ")[0] in LAST_STEPS:
            self._held = event
        else:
            self._say(event)

    def _say(self, event: PlanProgressed) -> None:
        if event.words == self._last:
            return
        self._last = event.words
        left = ""
        if event.remaining_s is not None and event.remaining_s >= 1:
            left = f"  ({minutes(event.remaining_s)} left)"
        diagnostics.say(f"{event.words}{left}")


def _is_said_again(last: PlanProgressed) -> bool:
    """A failure is said on this stream, a success on the other one, which may lead elsewhere."""
    return last.status == "failed" or is_one_place()


def say_restoring(event: Event) -> None:
    """Say that what ran before a measurement is started again, and what is not."""
    if isinstance(event, PlanProgressed) and event.step == RESTORING:
        say = diagnostics.warn if event.status == "failed" else diagnostics.say
        say(event.words)
