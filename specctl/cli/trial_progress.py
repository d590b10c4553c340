"""What `specctl compare` says while it launches and measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.agreeing import is_agreed
from specctl.cli.diagnostics import say
from specctl.cli.plan_text import say_restoring
from specctl.domain import figures
from specctl.domain.events import PlanProgressed, ProbeProgressed, TrialProgressed
from specctl.domain.trial.asking import budget_words

if TYPE_CHECKING:
    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial_plan import Proposal

MEASURING = "measuring"
HALVES = 2


def is_trial_agreed(
    proposal: Proposal | ScreeningProposal, budget_s: float | None, *, is_dry: bool, yes: bool
) -> bool:
    """As `is_agreed`, with how long it may take at most where that was said."""
    remarks = () if budget_s is None else (f"budget: {budget_words(budget_s)}",)
    return is_agreed(
        proposal.plan.host, proposal.words, proposal.refusals,
        remarks=remarks, is_dry=is_dry, yes=yes,
    )  # fmt: skip


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
