"""Alerts of several hosts as one list: what `specctl alerts` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.state import State


@dataclass(frozen=True, slots=True)
class HostAlert:
    """One alert of one host."""

    host: str
    rule: str
    """`lost`, `crashed`, `gpu`, `collapsed`, `breakeven`, `throttle`, `memory`, `queue` or
    `slow-link`.
    """

    server: str
    """Empty where it is about the host."""

    severity: str
    """`warning`: it works, worse than it could; `error`: it does not work, or was lost."""

    words: str
    value: str
    """What was measured against its threshold; empty where that is no number."""

    hint: str
    """What to do next."""

    raised_at_s: float
    """By the operator's clock, Unix seconds."""

    cleared_at_s: float | None
    """None while it is open."""

    @property
    def is_open(self) -> bool:
        """It still holds."""
        return self.cleared_at_s is None


@dataclass(frozen=True, slots=True)
class AlertList:
    """The open alerts of the hosts that were looked at, the worst first."""

    hosts: tuple[str, ...]
    alerts: tuple[HostAlert, ...]


def listed(state: State, hosts: Iterable[str]) -> tuple[HostAlert, ...]:
    """Every alert of the hosts: open errors, open warnings, then cleared ones; newest first."""
    found = [
        HostAlert(
            host, a.rule, a.server, a.severity, a.words, a.value, a.hint,
            a.raised_at_s, a.cleared_at_s,
        )
        for host in hosts
        for a in state.host(host).alerts
    ]  # fmt: skip
    return tuple(sorted(found, key=_place))


def _place(alert: HostAlert) -> tuple[bool, bool, float, str]:
    newest = alert.raised_at_s if alert.cleared_at_s is None else alert.cleared_at_s
    is_warning = alert.is_open and alert.severity != "error"
    return not alert.is_open, is_warning, -newest, alert.host


def open_alerts(state: State, hosts: Iterable[str]) -> AlertList:
    """What is wrong now."""
    hosts = tuple(hosts)
    return AlertList(hosts, tuple(alert for alert in listed(state, hosts) if alert.is_open))
