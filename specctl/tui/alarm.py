"""Alerts as they come: a toast once, the bell where it is wanted, and what was acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from specctl.domain.alerts.alert import Alert, Key
    from specctl.tui.application import SpecctlApp

Severity = Literal["warning", "error"]

MOST_CHARACTERS = 160
NEWS_S = 10.0
"""What was raised longer ago was there before the screen was."""


def key_of(host: str, alert: Alert) -> Key:
    """What tells an alert from every other one of the session."""
    return host, alert.rule, alert.server, alert.raised_at_s


class Alarm:
    """What the app does about alerts besides showing them."""

    def __init__(self, app: SpecctlApp, *, rings: bool) -> None:
        self._app = app
        self.rings = rings
        """The terminal's bell rings when one is raised."""

        self.acknowledged: frozenset[Key] = frozenset()
        self._heard: set[Key] = set()

    def hear(self) -> None:
        """Tell once of alerts that were raised since the last frame."""
        state, now_s = self._app.store.state, self._app.scene.clock_s
        found = {
            key_of(host, alert): alert
            for host, known in state.hosts.items()
            for alert in known.open_alerts
        }
        if found.keys() == self._heard:
            return
        new = [key for key in found if key not in self._heard and now_s - key[3] < NEWS_S]
        self._heard = set(found)
        self.acknowledged &= self._heard
        if new:
            self._tell([(key[0], found[key]) for key in new])

    def _tell(self, new: list[tuple[str, Alert]]) -> None:
        host, alert = min(new, key=lambda one: not one[1].is_error)
        more = f" and {len(new) - 1} more" if len(new) > 1 else ""
        severity: Severity = "error" if alert.is_error else "warning"
        self._app.tell(
            f"{host}{more}", f"{alert.words[:MOST_CHARACTERS]}\nA lists alerts.", severity=severity
        )
        if self.rings:
            self._app.bell()

    def acknowledge(self, key: Key) -> None:
        """Leave an alert out of the counts, or take it in again."""
        self.acknowledged ^= {key}
