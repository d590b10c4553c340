"""What is known of trials and other runs, for as long as the app lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.runs import RunKind
from specctl.tui.render.listing import holds

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.domain.runs import RunBrief
    from specctl.tui.trials import TrialRun, TrialSheet

TRIED = (RunKind.TRIAL, RunKind.SCREENING)
OPEN = ("", "interrupted")
ORDERS = ("newest first", "by verdict", "by host", "by profile")
WORDS = ("slower", "not enough evidence", "no material difference", "faster")
"""Verdicts in the order of a list by verdict; what has none goes first, it may need somebody."""


class TrialDesk:
    """The list, what was read of each trial, and those that this session carries out."""

    def __init__(self) -> None:
        self.entries: tuple[RunBrief, ...] = ()
        self.is_read = False
        self.error: SpecctlError | None = None
        self.sheets: dict[str, TrialSheet] = {}
        self.errors: dict[str, SpecctlError] = {}
        self.reading: set[str] = set()
        self.runs: dict[str, TrialRun] = {}
        self.shows_all = False
        """Starts, probes, comparisons and forecasts too."""

        self.order = ORDERS[0]

    @property
    def listed(self) -> list[RunBrief]:
        """What the list is about, in its order."""
        found = [e for e in self.entries if self.shows_all or e.kind in TRIED]
        match self.order:
            case "by verdict":
                return sorted(found, key=_place)
            case "by host":
                return sorted(found, key=lambda entry: entry.where)
            case "by profile":
                return sorted(found, key=lambda entry: entry.profiles[-1:])
            case _:
                return found

    def matching(self, terms: str) -> list[RunBrief]:
        """Those whose kind, host, profiles, verdict or id hold every word of a filter."""
        return [entry for entry in self.listed if holds(_text(entry), terms)]

    def turn_order(self) -> str:
        """The next order."""
        self.order = ORDERS[(ORDERS.index(self.order) + 1) % len(ORDERS)]
        return self.order

    def is_under_way(self, trial: str) -> bool:
        """This session carries it out."""
        run = self.runs.get(trial)
        return run is not None and not run.is_over

    def standing(self, trial: str) -> str:
        """`running` here, `open`, `ended`, or empty when it is not known."""
        sheet = self.sheets.get(trial)
        if self.is_under_way(trial):
            return "running"
        if sheet is None:
            return ""
        return "ended" if sheet.next is None else "open"

    def standing_of(self, entry: RunBrief | None) -> str:
        """The same of a run of the list; a screening is open until it came to something."""
        if entry is None or entry.kind is RunKind.TRIAL:
            return self.standing(entry.id if entry is not None else "")
        if self.is_under_way(entry.id):
            return "running"
        if entry.kind is not RunKind.SCREENING:
            return ""
        return "open" if entry.outcome in OPEN else "ended"

    @property
    def under_way(self) -> list[TrialRun]:
        """Trials that this session carries out."""
        return [run for run in self.runs.values() if not run.is_over]


def _place(entry: RunBrief) -> int:
    return WORDS.index(entry.outcome) if entry.outcome in WORDS else -1


def _text(entry: RunBrief) -> str:
    words = (entry.kind.value, entry.where, *entry.profiles, entry.outcome or "open", entry.id)
    return " ".join((*words, "simulated" if entry.simulated else ""))
