"""The rows at the top and the bottom of every screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from specctl.tui.panel import Bar, Painted
from specctl.tui.render.chrome import footer, guide_line, header, too_small
from specctl.tui.render.hits import crumb, is_count
from specctl.tui.render.lines import fit
from specctl.tui.render.replay import replay_bar

if TYPE_CHECKING:
    from textual import events

    from specctl.tui.application import SpecctlApp
    from specctl.tui.guide import Guide
    from specctl.tui.render.lines import Line
    from specctl.tui.screen import PanelScreen


class Header(Bar):
    """The first row."""

    def draw(self, cells: int) -> Line:
        """Crumbs, badges, counts, clock."""
        screen = cast("PanelScreen", self.screen)
        return header(self.scene, screen.crumbs(), cells, host=screen.target().host)

    def on_click(self, event: events.Click) -> None:
        """A crumb leads up to it, the counts to the alerts."""
        event.prevent_default()
        screen, line = cast("PanelScreen", self.screen), self.draw(self.size.width)
        back = crumb(line, event.x)
        if back is not None and back > 1:
            cast("SpecctlApp", self.app).climb(screen.crumbs()[-back])
        elif is_count(line, event.x):
            screen.action_act("alerts.open")


class Footer(Bar):
    """The last row."""

    def draw(self, cells: int) -> Line:
        """Keys by importance, and whether what is shown is now."""
        screen = cast("PanelScreen", self.screen)
        if screen.prompt is not None:
            return screen.prompt(cells)
        return footer(self.scene, screen.where, screen.target(), cells, status=screen.status())


class GuideBar(Bar):
    """What to press next while a guide is followed; where a replay is."""

    @property
    def is_out_of_place(self) -> bool:
        """It is shown and has nothing more to say."""
        return self.display and self._is_idle

    @property
    def _is_idle(self) -> bool:
        """There is neither a guide to follow nor a replay to move."""
        return self._guide.is_over and cast("SpecctlApp", self.app).scene.replay is None

    @property
    def _guide(self) -> Guide:
        return cast("SpecctlApp", self.app).work.guide

    def stand(self, row: int, *, hidden: bool = False) -> int:
        """Stand in a row; returns how many rows that takes from the others."""
        self.display = not (hidden or self._is_idle)
        self.styles.offset = (0, row)
        return int(self.display)

    def draw(self, cells: int) -> Line:
        """The step, its keys, and what hides the bar."""
        app = cast("SpecctlApp", self.app)
        if app.scene.replay is not None:
            return replay_bar(app.scene.replay, cells)
        hint = self._guide.hint(app.work.moment)
        can_hide = not self.screen.is_modal
        return guide_line(self._guide.number, hint, cells, can_hide=can_hide)


class TooSmall(Painted):
    """Instead of a screen that does not fit."""

    def build(self, cells: int, rows: int) -> list[Line]:
        """One line."""
        return [fit(line, cells) for line in too_small(cells, rows)]
