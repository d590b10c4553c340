"""What is known of trials, for as long as the app lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.render.listing import holds

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.domain.runs import RunBrief
    from specctl.tui.trials import TrialRun, TrialSheet


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

    def matching(self, terms: str) -> list[RunBrief]:
        """Trials whose host, profiles, verdict or id hold every word of a filter."""
        return [entry for entry in self.entries if holds(_text(entry), terms)]

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

    @property
    def under_way(self) -> list[TrialRun]:
        """Trials that this session carries out."""
        return [run for run in self.runs.values() if not run.is_over]


def _text(entry: RunBrief) -> str:
    words = (entry.host, *entry.profiles, entry.outcome or "open", entry.id)
    return " ".join((*words, "simulated" if entry.simulated else ""))
