"""A guide: what to press next, from a list of steps that are ticked off as things happen; pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specctl.domain.plan import Plan
    from specctl.domain.state import HostState
    from specctl.services.outcome import Outcome

Hint = tuple[tuple[str, str], ...]
"""Pairs of a key and what it does, in the order they are pressed; a key may be empty."""

ANYWHERE = ""
"""The hint of every stage that has no own one."""


PROBING, LOADING, TRYING = "probing on", "loading on", "trying on"
"""Stages of no screen: the hint where something goes on that the screen in front does not show."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What has happened so far, and which screen is in front."""

    where: str
    """The stage of the screen or dialog in front: its name, or what it has come to."""

    state: State = field(default_factory=State)
    plans: Mapping[str, Plan] = field(default_factory=dict)
    """Those that were carried out or are being so, by id."""

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    """How they ended, by the id of the plan."""

    goes_on: str = ""
    """What was begun and goes on out of sight: `PROBING`, `LOADING`, `TRYING`, or nothing."""

    @property
    def practice_host(self) -> tuple[str, HostState] | None:
        """The first host of the lab; None where there is none."""
        simulated = [(name, host) for name, host in self.state.hosts.items() if host.simulated]
        return min(simulated, default=None, key=lambda found: found[0])


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, and the keys for it on each screen."""

    is_done: Callable[[Moment], bool]
    hints: Mapping[str, Hint]
    """By the stage of the screen in front; `ANYWHERE` is needed."""

    def hint(self, moment: Moment) -> Hint:
        """What to press on the screen in front."""
        found = self.hints.get(moment.where) or self.hints.get(moment.goes_on)
        return found or self.hints[ANYWHERE]


class Guide:
    """Where somebody is in a list of steps; a step once done stays so."""

    def __init__(self, steps: tuple[Step, ...]) -> None:
        self._steps = steps
        self._at = 0
        self.is_dismissed = False

    @property
    def is_over(self) -> bool:
        """There is nothing to show any more."""
        return self.is_dismissed or self._at >= len(self._steps)

    @property
    def number(self) -> tuple[int, int]:
        """Which step of how many."""
        return self._at + 1, len(self._steps)

    def follow(self, moment: Moment) -> None:
        """Go past every step that is done by now."""
        while not self.is_over and self._steps[self._at].is_done(moment):
            self._at += 1

    def hint(self, moment: Moment) -> Hint:
        """What to press next; nothing once it is over."""
        return () if self.is_over else self._steps[self._at].hint(moment)
