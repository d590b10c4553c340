"""Alerts as lines of text: pure, so that it can be read in tests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from specctl.cli.table import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.alerts.alert import Alert
    from specctl.domain.alerts.published import AlertList
    from specctl.domain.events import AlertsChanged

MARKS = {"error": "✗", "warning": "▲"}
HEADS = ("", "HOST", "RULE", "WHAT", "VALUE", "NEXT")


def alert_lines(found: AlertList) -> list[str]:
    """A table of what is open, or that nothing is."""
    if not found.alerts:
        noun = "host" if len(found.hosts) == 1 else "hosts"
        return [f"No alert on {len(found.hosts)} {noun}."]
    rows = [
        [MARKS[a.severity], _place(a.host, a.server), a.rule, a.words, a.value, a.hint]
        for a in found.alerts
    ]
    return table(HEADS, rows)


def brief_lines(alerts: Sequence[Alert]) -> list[str]:
    """The open alerts of one host, each with what to do next."""
    return [f"{MARKS[a.severity]} {a.rule}: {a.words} → {a.hint}" for a in alerts if a.is_open]


def change_line(event: AlertsChanged) -> str:
    """An alert as it is raised or cleared, at this machine's time of day."""
    clock = time.strftime("%H:%M:%S", time.localtime(event.time_s))
    place = _place(event.host, event.server)
    if not event.is_open:
        return f"{clock}  ✓ cleared  {place}  {event.rule}  {event.words}"
    mark = MARKS[event.severity]
    return f"{clock}  {mark} raised   {place}  {event.rule}  {event.words}\n{'':10}→ {event.hint}"


def _place(host: str, server: str) -> str:
    return f"{host}/{server}" if server else host
