"""What `specctl compare` says while it launches and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.diagnostics import say, warn
from specctl.cli.plan_text import say_restoring
from specctl.cli.running import confirm
from specctl.domain import figures
from specctl.domain.errors import RefusedError
from specctl.domain.events import PlanProgressed, ProbeProgressed, TrialProgressed
from specctl.domain.trial.asking import budget_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal

MEASURING = "measuring"
HALVES = 2


def say_plan(lines: Iterable[str], budget_s: float | None) -> None:
    """What will be done, numbered, and how long it may take at most where that was said."""
    for number, words in enumerate(lines, start=1):
        say(f"{number}. {words}")
    if budget_s is not None:
        say(f"budget: {budget_words(budget_s)}")


def is_agreed(
    proposal: Proposal | ScreeningProposal, budget_s: float | None, *, is_dry: bool, yes: bool
) -> bool:
    """Show what will be done and ask; False after a dry run, RefusedError where it cannot be."""
    say_plan(proposal.words, budget_s)
    for check in proposal.refusals:
        warn(f"{check.words}. {check.next_step}")
    if is_dry:
        return False
    if proposal.refusals:
        check = proposal.refusals[0]
        raise RefusedError(f"host {proposal.plan.host}: {check.words}", hint=check.next_step)
    if not confirm("Go ahead?", yes=yes):
        raise RefusedError("nothing was done")
    return True


class TrialAnnouncer:
    """A line for each launch, for its load, and for each half of what is measured of it."""

    def __init__(self) -> None:
        self._half = -1

    def take(self, event: Event, _state: State) -> None:
        """One event of the store."""
        say_restoring(event)
        match event:
            case TrialProgressed():
                self._half = -1
                say(launch_words(event))
            case PlanProgressed(step="ready", status="begun" | "done"):
                left = event.remaining_s
                say(event.words + (f", about {figures.about(left)} left" if left else ""))
            case ProbeProgressed(words=words) if words == MEASURING and event.done:
                self._measured(event)

    def _measured(self, event: ProbeProgressed) -> None:
        half = event.done * HALVES // event.total
        if half <= self._half or event.done == event.total or not event.remaining_s:
            return
        self._half = half
        left = figures.about(event.remaining_s)
        say(f"{event.words}: {event.done} of {event.total}, about {left} left")


def launch_words(event: TrialProgressed) -> str:
    """One line: where a trial or a screening is, and its ratio so far."""
    ratio = ""
    if event.ratio is not None and event.low is not None and event.high is not None:
        ratio = f"; {event.ratio:.3f}x ({event.low:.3f} to {event.high:.3f})"
    elif event.ratio is not None:
        ratio = f"; {event.ratio:.3f}x so far"
    word = f": {event.word}" if event.word else ""
    return f"{event.words}, {event.done} of at most {event.most} launches{ratio}{word}"
