"""The rules of alerts: when each raises and clears, and how long it waits for that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


class Severity(StrEnum):
    """How bad it is."""

    WARNING = "warning"
    """It works, worse than it could."""

    ERROR = "error"
    """It does not work, or was lost."""


class Name(StrEnum):
    """The rules by name, the worst first."""

    LOST = "lost"
    CRASHED = "crashed"
    GPU = "gpu"
    COLLAPSED = "collapsed"
    BREAKEVEN = "breakeven"
    THROTTLE = "throttle"
    MEMORY = "memory"
    QUEUE = "queue"
    SLOW_LINK = "slow-link"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; between `raise_at` and `clear_at` it neither raises nor clears."""

    name: Name
    severity: Severity
    words: str
    """What it is about, for people."""

    raise_at: float | None = None
    """None where it has no threshold: it holds or does not."""

    clear_at: float | None = None
    for_s: float = 0.0
    """How long it must hold before an alert is raised."""

    clear_for_s: float = 10.0
    """How long it must not hold before the alert is cleared."""

    reasons: tuple[str, ...] = ()
    """Of a slowed GPU: those that count."""

    is_on: bool = True


HEAT = ("heat (hw)", "heat (sw)", "brake (hw)", "hw slow")
"""Slow-downs that a GPU does not have in good order; a power cap at full load is one it has."""

_RULES = (
    Rule(Name.LOST, Severity.ERROR, "a host is not reached", for_s=5, clear_for_s=5),
    Rule(Name.CRASHED, Severity.ERROR, "a server crashed", clear_for_s=0),
    Rule(Name.GPU, Severity.ERROR, "a GPU fell off the bus", for_s=3),
    Rule(
        Name.COLLAPSED, Severity.ERROR, "a draft model proposes and nothing is accepted",
        raise_at=1.005, clear_at=1.05, for_s=10,
    ),
    Rule(
        Name.BREAKEVEN, Severity.WARNING, "accept length under its break-even, as a share of it",
        raise_at=1.0, clear_at=1.03, for_s=15, clear_for_s=15,
    ),
    Rule(
        Name.THROTTLE, Severity.WARNING, "GPUs are slowed", for_s=3, clear_for_s=10, reasons=HEAT
    ),
    Rule(
        Name.MEMORY, Severity.WARNING, "GPU memory used, % of what a GPU has",
        raise_at=98, clear_at=96, for_s=10,
    ),
    Rule(
        Name.QUEUE, Severity.WARNING, "requests waiting at a server, and becoming more",
        raise_at=16, clear_at=4, for_s=30,
    ),
    Rule(
        Name.SLOW_LINK, Severity.WARNING, "round trip to a host and back, ms",
        raise_at=400, clear_at=250, for_s=20, clear_for_s=20,
    ),
)  # fmt: skip
RULES: Mapping[Name, Rule] = {rule.name: rule for rule in _RULES}
"""As they are where no file says otherwise."""

FALLING = frozenset({Name.COLLAPSED, Name.BREAKEVEN})
"""Those that raise under their threshold; the others raise over it."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a workspace."""

    by_name: Mapping[Name, Rule] = field(default_factory=lambda: RULES)

    @property
    def shortest(self) -> Rules:
        """The same with nothing waited for: what one look at a host can judge."""
        at_once = {n: replace(r, for_s=0.0, clear_for_s=0.0) for n, r in self.by_name.items()}
        return Rules(at_once)


def rules_of(tables: Mapping[str, Mapping[str, Any]]) -> Rules:
    """The rules with what the tables of `alerts.toml`, found valid, change of them."""
    changed = dict(RULES)
    for name, table in tables.items():
        values = {key: value for key, value in table.items() if value is not None}
        if "on" in values:
            values["is_on"] = values.pop("on")
        if "reasons" in values:
            values["reasons"] = tuple(values["reasons"])
        changed[Name(name)] = replace(RULES[Name(name)], **values)
    return Rules(changed)
