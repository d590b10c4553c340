"""Ways between screens: each place is once on the stack, so that esc goes up and not around."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from specctl.tui.action import Target
from specctl.tui.actions import PANELS
from specctl.tui.hearing import Hearing
from specctl.tui.screen import PanelScreen
from specctl.tui.screens.alerts import AlertsScreen
from specctl.tui.screens.commands import CommandsScreen
from specctl.tui.screens.fleet import FleetScreen
from specctl.tui.screens.host import HostScreen
from specctl.tui.screens.log import LogScreen
from specctl.tui.visits import Visits

if TYPE_CHECKING:
    from textual.screen import Screen

    from specctl.tui.scene import Scene
    from specctl.tui.services import Services


class Going(Hearing):
    """The part of the app that opens and leaves screens."""

    scene: Scene
    services: Services | None
    read_only: bool
    _last_host: str | None = None

    def __init__(self) -> None:
        super().__init__()
        self.visits: Visits[PanelScreen] = Visits()
        self._kept: dict[PanelScreen, str] = {}
        """Screens that live on when they are left, and the names under which Textual has them."""

        self._names = count(1)

    @property
    def front(self) -> Screen[object] | None:
        """The screen in front; none any more when work ends after the app did."""
        stack = self.screen_stack
        return stack[-1] if stack else None

    def target(self) -> Target:
        """What actions act on, on the screen in front that has such a thing."""
        for screen in reversed(self.screen_stack):
            if isinstance(screen, PanelScreen):
                return screen.target()
        return Target(read_only=self.read_only)

    def target_below(self, screen: PanelScreen) -> Target:
        """What actions act on, on the screen that `screen` was opened from."""
        stack = list(self.screen_stack)
        below = stack[: stack.index(screen)] if screen in stack else stack
        for one in reversed(below):
            if isinstance(one, PanelScreen):
                return one.target()
        return Target(read_only=self.read_only)

    def host_order(self) -> list[str]:
        """Hosts as they stand in the table of the fleet."""
        fleet = self.screen_stack[0]
        return fleet.hosts.names() if isinstance(fleet, FleetScreen) else list(self.scene.hosts)

    def go_to(self, screen: PanelScreen) -> None:
        """Show a screen; where one of its kind was on the way here, back to there first."""
        kinds = [s.where if isinstance(s, PanelScreen) else "" for s in self.screen_stack]
        if screen.where in kinds[1:]:
            place = kinds.index(screen.where, 1)
            while len(self.screen_stack) > place:
                self.go_back()
        self.push_screen(screen)

    def open_host(self, name: str, server: str | None = None) -> None:
        """Show a host, and of several servers the one named; on its screen already, turn it."""
        self._last_host = name
        if isinstance(self.screen, HostScreen):
            self.screen.show(name, server)
        else:
            self.go_to(HostScreen(name, server=server))

    def go_back(self) -> None:
        """The screen before."""
        screen = self.screen
        if isinstance(screen, HostScreen):
            self._last_host = screen.host
        self.pop_screen()
        if isinstance(screen, PanelScreen):
            screen.parked()

    def climb(self, crumb: str) -> None:
        """Up to a crumb of the screen in front: the fleet, a host, or the screen before."""
        if crumb == "Fleet":
            self.do_fleet_open()
            return
        if isinstance(self.screen, HostScreen):
            return
        self.go_back()
        if crumb in self.scene.hosts and not self._shows(crumb):
            self.open_host(crumb)

    def _shows(self, host: str) -> bool:
        """The screen in front is that of the host."""
        return isinstance(self.screen, HostScreen) and self.screen.host == host

    def do_fleet_open(self) -> None:
        """Back to the fleet."""
        while len(self.screen_stack) > 1:
            self.go_back()

    def do_host_open(self) -> None:
        """The host that is acted on."""
        name = self.target().host
        if name is not None:
            self.open_host(name)

    def do_log_open(self) -> None:
        """The log of the server that is acted on."""
        target = self.target()
        if target.host is not None:
            self.open_log(target.host, target.server.name if target.server else None)

    def open_log(self, host: str, server: str | None = None) -> None:
        """The log of a server of a host."""
        self._last_host = host
        if isinstance(self.screen, LogScreen):
            self.screen.show(host, server)
        else:
            self.go_to(LogScreen(host, server))

    def do_command_log_open(self) -> None:
        """What was done on hosts in this session."""
        if not isinstance(self.screen, CommandsScreen):
            self.go_to(CommandsScreen(lambda: self.services.commands() if self.services else ()))

    def do_alerts_open(self) -> None:
        """What is wrong, and what was."""
        if not isinstance(self.screen, AlertsScreen):
            self.go_to(AlertsScreen())

    # ---------------------------------------------------------------- visited

    @property
    def _way(self) -> tuple[PanelScreen, ...]:
        return tuple(screen for screen in self.screen_stack if isinstance(screen, PanelScreen))

    def note_visit(self, screen: PanelScreen) -> None:
        """A screen came to the front: it and those on the way to it stay as they are left."""
        if self.front is not screen or screen.where not in PANELS:
            return
        self.visits.note(self._way)
        screens = self.visits.screens
        for one in screens:
            if one not in self._kept and one is not self.screen_stack[0]:
                self._kept[one] = f"visited-{next(self._names)}"
                self.install_screen(one, self._kept[one])
        stack = self.screen_stack
        for one in [one for one in self._kept if one not in screens and one not in stack]:
            self.uninstall_screen(self._kept.pop(one))
            one.remove()

    def do_go_visited(self) -> None:
        """The view that was in front before this one."""
        self._visit(-1)

    def do_go_visited_on(self) -> None:
        """The view that was gone back from."""
        self._visit(1)

    def _visit(self, by: int) -> None:
        """Leave what is not on the way to the view, and go what is left of it."""
        view = self.visits.step(by)
        if view is None:
            words = "before this" if by < 0 else "after this"
            self.notify(f"Nothing was visited {words}", markup=False)
            return
        while self._way != view[: len(self._way)]:
            self.go_back()
        for screen in view[len(self._way) :]:
            self.push_screen(screen)
            screen.brought_back()

    def do_go_last(self) -> None:
        """The screen that was looked at before this one."""
        if len(self.screen_stack) > 1:
            self.go_back()
        elif self._last_host is not None:
            self.open_host(self._last_host)
