"""Alerts of a host as events add them up: what is open, and what was open lately."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.events import AlertsChanged

Key = tuple[str, str, str, float]
"""Host, rule, server, and when it was raised: what tells an alert from every other one."""

MOST_CLEARED = 20
"""So many cleared ones are kept of a host, the newest."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing that is or was wrong."""

    rule: str
    server: str
    """Empty where it is about the host."""

    severity: str
    """`warning` or `error`."""

    words: str
    value: str
    """What was measured against its threshold, e.g. `1.50 < 1.69`; empty where that is no number.
    """

    hint: str
    """What to do next."""

    raised_at_s: float
    """By the operator's clock, Unix seconds."""

    cleared_at_s: float | None = None
    """None while it is open."""

    @property
    def is_open(self) -> bool:
        """It still holds."""
        return self.cleared_at_s is None

    @property
    def is_error(self) -> bool:
        """Something does not work or was lost."""
        return self.severity == "error"


def fold(alerts: tuple[Alert, ...], event: AlertsChanged) -> tuple[Alert, ...]:
    """The alerts after `event`: the open ones in order of their raising, then cleared ones."""
    mine = (event.rule, event.server)
    before = next((a for a in alerts if a.is_open and (a.rule, a.server) == mine), None)
    rest = [alert for alert in alerts if alert is not before]
    if event.is_open:
        rest.append(_raised(event, before))
    elif before is not None:
        rest.append(replace(before, cleared_at_s=event.time_s))
    opened = sorted((a for a in rest if a.is_open), key=lambda a: a.raised_at_s)
    cleared = sorted((a for a in rest if not a.is_open), key=lambda a: -(a.cleared_at_s or 0))
    return (*opened, *cleared[:MOST_CLEARED])


def _raised(event: AlertsChanged, before: Alert | None) -> Alert:
    return Alert(
        event.rule,
        event.server,
        event.severity,
        event.words,
        event.value,
        event.hint,
        before.raised_at_s if before is not None else event.time_s,
    )
