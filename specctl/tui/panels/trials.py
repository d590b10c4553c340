"""The panels of the trial screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.listing import Listed, Sifted
from specctl.tui.panel import Panel, Scrolled
from specctl.tui.render.chrome import hints
from specctl.tui.render.forest import draw_ratio
from specctl.tui.render.hits import text_at
from specctl.tui.render.lines import Drawing, Line, error_lines
from specctl.tui.render.trial import Under, draw_answer
from specctl.tui.render.trials import (
    launch_head,
    launch_more,
    launch_row,
    next_row,
    run_row,
    run_words,
    trial_head,
)
from specctl.tui.render.why import why_lines
from specctl.tui.render.worth import draw_map
from specctl.tui.trial_desk import ORDERS

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.domain.runs import RunBrief
    from specctl.domain.trial.running import TrialBlock
    from specctl.tui.scene import Scene
    from specctl.tui.trial_desk import TrialDesk
    from specctl.tui.trials import TrialSheet


HEADS = {
    "VERDICT": "by verdict", "OUTCOME": "by verdict", "HOST": "by host", "PROFILE": "by profile",
    "AGE": "newest first",
}  # fmt: skip


class Looked:
    """Which trial the panels of a screen are about."""

    def __init__(self, desk: TrialDesk, trial: str = "") -> None:
        self.desk, self.trial = desk, trial
        self.other: RunBrief | None = None
        """A run that is no trial."""

    @property
    def sheet(self) -> TrialSheet | None:
        """None until it was read."""
        return self.desk.sheets.get(self.trial)

    @property
    def error(self) -> SpecctlError | None:
        """Why it could not be read."""
        return self.desk.errors.get(self.trial)

    @property
    def under(self) -> Under | None:
        """It is being carried out by this session."""
        run = self.desk.runs.get(self.trial)
        if run is None or run.is_over:
            return None
        return Under(run.began_s, is_stopping=run.is_stopping)


def waiting(looked: Looked, title: str, cells: int, *, is_answer: bool = False) -> Drawing:
    """Instead of a trial that is not there yet; the answer tells of a run that is none."""
    if looked.error is not None:
        return Drawing(title, error_lines(looked.error, cells))
    if looked.other is not None and not is_answer:
        return Drawing(title, [[("Only a trial has this.", "faint")]])
    if looked.other is not None:
        return Drawing(looked.other.kind.value.capitalize(), run_words(looked.other, cells))
    words = "Reading the ledger" if looked.trial else "No trial is chosen."
    return Drawing(title, [[(words, "dim")]])


class AnswerPanel(Panel):
    """The plan and how far it is, or the verdict; both arms."""

    number = "1"

    def __init__(self, looked: Looked, *, number: str = "1") -> None:
        super().__init__(id="answer")
        self.looked, self.number = looked, number

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Whichever it is."""
        del rows
        sheet = self.looked.sheet
        if sheet is None:
            return waiting(self.looked, "Trial", cells, is_answer=True)
        return draw_answer(scene, sheet, self.looked.under, cells, is_short=self.rule)


class RatioPanel(Panel):
    """The interval from look to look."""

    def __init__(self, looked: Looked, *, number: str = "2") -> None:
        super().__init__(id="ratio")
        self.looked, self.number = looked, number

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """One row a look."""
        del scene
        sheet = self.looked.sheet
        if sheet is None:
            return waiting(self.looked, "Ratio to A", cells)
        return draw_ratio(sheet, cells, rows)


class MapPanel(Panel):
    """Accept length against speedup."""

    def __init__(self, looked: Looked, *, number: str = "3") -> None:
        super().__init__(id="map")
        self.looked, self.number = looked, number

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Ours, and what it would take."""
        del scene
        sheet = self.looked.sheet
        if sheet is None:
            return waiting(self.looked, "Accept length × speedup", cells)
        return draw_map(sheet, cells, rows)


class WhyPanel(Scrolled):
    """Break-even, step costs, reasons, commands, conditions."""

    number = "4"

    def __init__(self, looked: Looked) -> None:
        super().__init__(id="why")
        self.looked = looked

    def _lines(self, cells: int) -> list[Line]:
        sheet = self.looked.sheet
        run = self.looked.desk.runs.get(self.looked.trial)
        if sheet is None:
            return []
        return (
            why_lines(sheet, (), cells)
            if run is None
            else why_lines(run.known(sheet), run.notes, cells)
        )

    def longest(self) -> int:
        """Rows of all of it."""
        return len(self._lines(max(10, self.size.width - 4)))

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What is in sight."""
        del scene
        if self.looked.sheet is None:
            return waiting(self.looked, "Why", cells)
        lines = self._lines(cells)
        self.top = min(self.top, max(0, len(lines) - rows))
        note = hints([("↓ ↑", "scroll")]) if len(lines) > rows else []
        more = len(lines) - self.top - rows
        summary: Line = [(f"{more} more rows", "dim")] if more > 0 else []
        return Drawing("Why", lines[self.top :][:rows], summary, note)


class LaunchesPanel(Listed):
    """Every launch, with why it could not be used."""

    number = "5"

    def __init__(self, looked: Looked) -> None:
        super().__init__(id="launches")
        self.looked = looked

    @property
    def block(self) -> TrialBlock | None:
        """The chosen one."""
        sheet = self.looked.sheet
        if sheet is None or self.at >= len(sheet.blocks):
            return None
        return sheet.blocks[self.at]

    def count(self) -> int:
        """Those that were made, and the next."""
        sheet = self.looked.sheet
        return 0 if sheet is None else len(sheet.blocks) + (sheet.next is not None)

    def follow(self) -> None:
        """Put the cursor on the newest, unless it is looked at."""
        if not self.has_focus:
            self.at = max(0, self.count() - 1)

    def head(self, cells: int) -> list[Line]:
        """Names of the columns."""
        return [launch_head(cells)]

    def item(self, index: int, cells: int) -> Line:
        """One launch."""
        sheet = self.looked.sheet
        if sheet is None:
            return []
        if index >= len(sheet.blocks):
            return next_row(sheet, cells, is_running=self.looked.under is not None)
        return launch_row(sheet, sheet.blocks[index], cells)

    def more(self, cells: int) -> list[Line]:
        """All that is said of the chosen one."""
        return launch_more(self.block, cells)

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many were used."""
        del cells
        sheet = self.looked.sheet
        if sheet is None:
            return "Launches", [], []
        a, b = sheet.primary.launches
        lost = sum(count for _, count in sheet.summary.lost)
        out: Line = [(f"{a} of A, {b} of B used", "dim")]
        return "Launches", [*out, *([("  ", ""), (f"▲{lost} not", "warn")] if lost else [])], []


class TrialsPanel(Sifted["RunBrief"]):
    """The trials of the ledger."""

    number = "1"

    def __init__(self, desk: TrialDesk) -> None:
        super().__init__(id="trials")
        self.desk = desk
        self.wanted = ""
        """The order whose head was clicked; empty for a column that has none."""

    @property
    def found(self) -> list[RunBrief]:
        """Those that match what was typed."""
        return self.desk.matching(self.terms)

    def head(self, cells: int) -> list[Line]:
        """Names of the columns."""
        return [trial_head(cells, has_kinds=self.desk.shows_all)]

    def pick_head(self, row: int, cell: int, cells: int) -> bool:
        """Order by the column whose head was clicked, where the list has such an order."""
        head = trial_head(cells, has_kinds=self.desk.shows_all)
        self.wanted = HEADS.get(text_at(head, cell), "") if row == 0 else ""
        return row == 0

    def item(self, index: int, cells: int) -> Line:
        """One trial."""
        entry = self.found[index]
        return run_row(
            entry, self.scene.clock_s, cells, is_running=self.desk.is_under_way(entry.id),
            has_kinds=self.desk.shows_all,
        )  # fmt: skip

    def nothing(self, cells: int) -> list[Line]:
        """Why there is none."""
        if self.desk.error is not None:
            return error_lines(self.desk.error, cells)
        if not self.desk.is_read:
            return [[("Reading the ledger", "dim")]]
        if self.terms:
            return [[(f"Nothing matches {self.terms}. ", "text"), ("esc", "key"),
                     (" clears the filter.", "dim")]]  # fmt: skip
        none: Line = [("No trials here yet. ", "text"), ("c", "key")]
        none.append((" compares profiles.", "dim"))
        others = len(self.desk.entries)
        if others and not self.desk.shows_all:
            kept = "one other run" if others == 1 else f"{others} other runs"
            none += [("  ", ""), ("t", "key"), (f" lists {kept}, such as probes.", "dim")]
        return [none]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many, and the filter."""
        del cells
        total = len(self.desk.listed)
        summary: Line = [(f"{self.count()} of {total}" if self.terms else str(total), "dim")]
        if self.terms:
            summary = [("/", "prompt"), (self.terms, "text"), ("  ", ""), *summary]
        if self.desk.order != ORDERS[0]:
            summary = [(self.desk.order, "text"), ("  ", ""), *summary]
        note = hints([("t", "trials alone" if self.desk.shows_all else "all runs")])
        return "Runs" if self.desk.shows_all else "Trials", summary, note
