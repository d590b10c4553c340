"""The panels of a plan being carried out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.panel import Panel
from specctl.tui.render.launch import (
    draw_excerpt,
    draw_left_behind,
    draw_steps,
    draw_tail,
    draw_verdict,
)

if TYPE_CHECKING:
    from specctl.domain.plan import Plan
    from specctl.services.outcome import Outcome
    from specctl.tui.render.lines import Drawing
    from specctl.tui.scene import Scene


class LaunchPart(Panel):
    """A panel about one plan."""

    def __init__(self, plan: Plan, began_s: float, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.plan = plan
        self.began_s = began_s

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None while it goes on."""
        return self.shell.outcomes.get(self.plan.id)


class VerdictPanel(LaunchPart):
    """The answer in words."""

    number = "1"

    def __init__(self, plan: Plan, began_s: float) -> None:
        super().__init__(plan, began_s, id="verdict")

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Where it is, or how it ended."""
        del rows
        return draw_verdict(scene, self.plan, self.outcome, cells, self.began_s)


class StepsPanel(LaunchPart):
    """Steps and milestones with their times."""

    number = "2"

    def __init__(self, plan: Plan, began_s: float) -> None:
        super().__init__(plan, began_s, id="steps")

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """One line a step."""
        return draw_steps(scene, self.plan, self.outcome, cells, rows)


class LeftBehindPanel(LaunchPart):
    """What a failed start left on the host."""

    number = "3"

    def __init__(self, plan: Plan, began_s: float) -> None:
        super().__init__(plan, began_s, id="left-behind")

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Processes, ports, memory, log."""
        del scene, rows
        return draw_left_behind(self.outcome, cells)


class LaunchLogPanel(LaunchPart):
    """The log as it grows, or at the first cause."""

    number = "4"

    def __init__(self, plan: Plan, began_s: float) -> None:
        super().__init__(plan, began_s, id="launch-log")
        self.server_name: str | None = None

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The lines in sight."""
        outcome = self.outcome
        if outcome is not None and not outcome.succeeded and outcome.log_excerpt:
            return draw_excerpt(outcome, cells, rows)
        return draw_tail(scene, self.plan.host, self.server_name, rows)
