"""The list of alerts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.alerts.published import listed
from specctl.tui.listing import Listed
from specctl.tui.render.alerts import alert_head, alert_more, alert_row
from specctl.tui.render.listing import holds

if TYPE_CHECKING:
    from specctl.domain.alerts.alert import Key
    from specctl.domain.alerts.published import HostAlert
    from specctl.tui.render.lines import Line


def key_of(alert: HostAlert) -> Key:
    """What tells it from every other one of the session."""
    return alert.host, alert.rule, alert.server, alert.raised_at_s


class AlertsPanel(Listed):
    """Open ones, the worst first, then those cleared lately."""

    number = "1"

    def __init__(self) -> None:
        super().__init__(id="alerts")
        self._found: list[HostAlert] = []
        self._chosen: Key | None = None

    @property
    def keeps_cursor(self) -> bool:
        """Actions are about the chosen one's host."""
        return True

    def gather(self) -> None:
        """Take what there is now; the cursor stays on its alert."""
        scene = self.scene
        alerts = listed(scene.state, scene.hosts)
        self._found = [a for a in alerts if holds(f"{a.host} {a.rule} {a.words}", self.terms)]
        keys = [key_of(alert) for alert in self._found]
        if self._chosen in keys:
            self.at = keys.index(self._chosen)

    def count(self) -> int:
        """Alerts that pass the filter."""
        return len(self._found)

    @property
    def chosen(self) -> HostAlert | None:
        """The one under the cursor."""
        return self._found[min(self.at, len(self._found) - 1)] if self._found else None

    def choose(self, index: int) -> None:
        """Put the cursor on an alert, and keep it there."""
        super().choose(index)
        self._chosen = key_of(self.chosen) if self.chosen is not None else None

    def head(self, cells: int) -> list[Line]:
        """The names of the columns."""
        return [alert_head(cells)] if self._found else []

    def item(self, index: int, cells: int) -> Line:
        """One alert."""
        alert = self._found[index]
        return alert_row(self.scene, alert, cells, is_seen=self._is_seen(alert))

    def more(self, cells: int) -> list[Line]:
        """All of the chosen one."""
        alert = self.chosen
        if alert is None:
            return []
        return alert_more(self.scene, alert, cells, is_seen=self._is_seen(alert))

    def _is_seen(self, alert: HostAlert) -> bool:
        return alert.is_open and key_of(alert) in self.scene.acknowledged

    def nothing(self, cells: int) -> list[Line]:
        """What an empty list means."""
        del cells
        if self.terms:
            return [[], [(f"Nothing matches {self.terms}. ", "text"), ("esc", "key"),
                         (" clears the filter.", "text")]]  # fmt: skip
        return [
            [],
            [("✓ ", "ok"), ("Nothing is wrong, and nothing was since this session began.", "text")],
            [("alerts.toml", "strong"), (" of the workspace says when alerts are raised.", "dim")],
        ]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many are open."""
        del cells
        opened = [alert for alert in self._found if alert.is_open]
        errors = sum(alert.severity == "error" for alert in opened)
        summary: Line = [("/" + self.terms, "prompt"), ("  ", "")] if self.terms else []
        if errors:
            summary += [(f"✗{errors}", "bad"), ("  ", "")]
        if len(opened) > errors:
            summary += [(f"▲{len(opened) - errors}", "warn"), ("  ", "")]
        summary += [
            (f"{len(opened)} open", "text"),
            (f", {self.count() - len(opened)} cleared", "dim"),
        ]
        return "Alerts", summary, []
