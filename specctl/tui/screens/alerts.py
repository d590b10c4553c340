"""Alerts of all hosts: what is wrong, since when, and what to do next?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from specctl.tui.action import Target
from specctl.tui.arrange import Place, Places, is_short
from specctl.tui.listing import Listed
from specctl.tui.listscreen import ListScreen
from specctl.tui.panels.alerts import AlertsPanel, key_of
from specctl.tui.render.standing import worst
from specctl.tui.screen import bindings

if TYPE_CHECKING:
    from specctl.domain.alerts.published import HostAlert
    from specctl.tui.panel import Panel


class AlertsScreen(ListScreen):
    """One list."""

    where = "alerts"
    AUTO_FOCUS = "#alerts"
    BINDINGS = bindings("alerts")

    def __init__(self) -> None:
        super().__init__()
        self.list = AlertsPanel()

    @property
    def main(self) -> AlertsPanel:
        """The list."""
        return self.list

    def narrowed(self) -> None:
        """Take what passes the filter."""
        self.list.gather()

    def panels(self) -> list[Panel]:
        """The one."""
        return [self.list]

    def places(self, cells: int, rows: int) -> Places:
        """All there is."""
        return {"alerts": Place(0, 1, cells, rows - 2, rule=is_short(rows))}

    def crumbs(self) -> list[str]:
        """From the fleet."""
        return ["Fleet", "Alerts"]

    def target(self) -> Target:
        """The host and server of the chosen one; without one what lies below."""
        scene, chosen = self.specctl.scene, self.list.chosen
        if chosen is None:
            return self.specctl.target_below(self)
        if chosen.host not in scene.hosts:
            return Target(read_only=scene.read_only)
        state = scene.state.host(chosen.host)
        server = state.server(chosen.server) if chosen.server else worst(state)
        return Target(chosen.host, state, server, scene.is_read_only(chosen.host))

    def repaint(self) -> None:
        """The list follows the state."""
        self.list.gather()
        super().repaint()

    def on_mount(self) -> None:
        """What there is now."""
        self.list.gather()

    @on(Listed.Moved)
    def follow_cursor(self) -> None:
        """Actions follow the cursor."""
        self.repaint()

    def do_row_open(self) -> None:
        """Where it is wrong: the host and server; of a crash, the log."""
        chosen = self.list.chosen
        if chosen is None:
            return
        if chosen.rule == "crashed":
            self.specctl.open_log(chosen.host, chosen.server or None)
        else:
            self.specctl.open_host(chosen.host, chosen.server or None)

    def do_alert_acknowledge(self) -> None:
        """Leave it out of the counts, or take it in again."""
        chosen = self.list.chosen
        if chosen is not None and chosen.is_open:
            self.specctl.alarm.acknowledge(key_of(chosen))
            self.specctl.repaint()

    def do_copy_selection(self) -> None:
        """Copy the chosen one with what to do next."""
        chosen = self.list.chosen
        if chosen is not None:
            self.specctl.copy(_text(chosen), "the alert")


def _text(alert: HostAlert) -> str:
    place = f"{alert.host}/{alert.server}" if alert.server else alert.host
    value = f" ({alert.value})" if alert.value else ""
    return f"{alert.rule} {place}: {alert.words}{value}\nnext: {alert.hint}"
