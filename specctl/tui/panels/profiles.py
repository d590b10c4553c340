"""The panels of the profiles screen: list, facts, text with its marks, command, recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.listing import Listed, Sifted
from specctl.tui.panel import Panel
from specctl.tui.render import marks, profiles, recipe
from specctl.tui.render.lines import Drawing, Line, wrap

if TYPE_CHECKING:
    from specctl.domain.lint.finding import Finding
    from specctl.domain.source import Place
    from specctl.tui.reading import ProfileEntry, ProfileSheet
    from specctl.tui.scene import Scene
    from specctl.tui.shelf import Shelf

Y_COPIES: Line = [("y", "key"), (" copies", "dim")]


class ProfilesList(Sifted["ProfileEntry"]):
    """Every profile of the workspace."""

    number = "1"

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(id="profiles")
        self.shelf = shelf

    @property
    def found(self) -> list[ProfileEntry]:
        """Those that pass the filter."""
        return self.shelf.matching(self.terms)

    def head(self, cells: int) -> list[Line]:
        """Heads, once there is something under them."""
        return [profiles.list_head(cells)] if self.count() else []

    def item(self, index: int, cells: int) -> Line:
        """One profile."""
        entry = self.found[index]
        sheet = self.shelf.sheets.get(entry.name)
        lint: Line = [("…", "faint")] if sheet is None else profiles.lint_counts(sheet.findings)
        runs = profiles.runs_of(self.scene, entry.name)
        has_drift = profiles.drifts(self.scene, runs)
        return profiles.list_line(entry, lint, runs, cells, has_drift=has_drift)

    def nothing(self, cells: int) -> list[Line]:
        """None yet, or none that matches."""
        if self.shelf.error is not None:
            return [[("✗ ", "bad"), (text, "text")]
                    for text in wrap(self.shelf.error.message, cells - 2)]  # fmt: skip
        if self.shelf.is_reading and not self.shelf.profiles.entries:
            return [[("◐ ", "data"), ("Reading profiles/", "text")]]
        if self.terms:
            return [[(f"Nothing matches {self.terms}.", "text")]]
        return [
            [("No profiles in this workspace yet.", "text")],
            [("specctl import", "strong"), (" makes one of a launch", "dim")],
            [("command, or write ", "dim"), ("profiles/NAME.toml", "text"), (".", "dim")],
        ]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many."""
        del cells
        entries = self.shelf.profiles.entries
        summary: Line = [(str(self.count()), "strong")] if entries else []
        if self.terms:
            summary = [("/" + self.terms, "prompt"), ("  ", ""), *summary]
        return "Profiles", summary, profiles.git_note(entries)


class ProfilePart(Panel):
    """A panel about the chosen profile."""

    def __init__(self, shelf: Shelf, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.shelf = shelf

    @property
    def sheet(self) -> ProfileSheet | None:
        """What is known of it; None while it is read."""
        return self.shelf.sheet


class FactsPanel(ProfilePart):
    """Git, what it expects, what was measured."""

    number = "2"

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(shelf, id="facts")

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """One line a fact."""
        entry = self.shelf.chosen
        if entry is None:
            return Drawing("Facts", [])
        lines = profiles.fact_lines(scene, entry, self.sheet, self.shelf.profiles.commit, cells)
        against: Line = [(f"on {self.shelf.host}", "dim")] if self.shelf.host else []
        return Drawing("Facts", lines[:rows], against)


class TextPanel(Listed):
    """The file, and under each line what a build makes of it."""

    number = "3"

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(id="text")
        self.shelf = shelf

    def count(self) -> int:
        """Lines and findings."""
        return len(self.shelf.rows)

    @property
    def finding(self) -> Finding | None:
        """The one under the cursor; of a line the first about it."""
        rows = self.shelf.rows
        if self.at >= len(rows):
            return None
        if rows[self.at].finding is not None:
            return rows[self.at].finding
        return rows[self.at + 1].finding if self.at + 1 < len(rows) else None

    def place(self) -> Place | None:
        """The line of the tree that says what the chosen finding says."""
        return self.finding.place if self.finding else None

    def step(self, by: int) -> bool:
        """To the next finding, round at the end; False when there is none."""
        rows = self.shelf.rows
        found = [i for i, item in enumerate(rows) if item.finding is not None]
        after = [i for i in found if (i > self.at if by > 0 else i < self.at)]
        if not found:
            return False
        self.choose((after[0] if by > 0 else after[-1]) if after else found[0 if by > 0 else -1])
        return True

    def item(self, index: int, cells: int) -> Line:
        """A line, or a finding."""
        shelf, item = self.shelf, self.shelf.rows[index]
        if shelf.code is None:
            return []
        file = shelf.sheet.file if shelf.sheet else ""
        return marks.text_line(
            item, shelf.code, shelf.worst, file, cells, chosen=self.has_focus and index == self.at
        )

    def more(self, cells: int) -> list[Line]:
        """Of a finding: the fix, the rule, the line of the source."""
        item = self.shelf.rows[self.at]
        file = self.shelf.sheet.file if self.shelf.sheet else ""
        return marks.finding_more(item.finding, file, cells) if item.finding else []

    def nothing(self, cells: int) -> list[Line]:
        """Still being read, or why it cannot be."""
        shelf = self.shelf
        if shelf.chosen is None:
            return []
        error = shelf.errors.get(shelf.chosen.name)
        if error is not None:
            return [[("✗ ", "bad"), (text, "text")] for text in wrap(error.message, cells - 2)]
        return [[("◐ ", "data"), (f"Reading {shelf.chosen.file}", "text")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """The file, what is wrong with it, and against what it was checked."""
        del cells
        shelf, sheet = self.shelf, self.shelf.sheet
        if shelf.chosen is None:
            return "Text", [], []
        title = shelf.chosen.file.rpartition("/")[2]
        summary = marks.text_summary(sheet) if sheet else []
        note: Line = []
        if sheet is not None and sheet.unchecked:
            note = [("▲ ", "warn"), (sheet.unchecked, "dim")]
        elif shelf.is_checking(shelf.chosen.name):
            note = [("◐ checking", "data")]
        elif sheet is not None and sheet.findings:
            note = [("n", "key"), (" next finding", "dim")]
        return title, summary, note


class CommandPanel(ProfilePart):
    """The command line that it comes to."""

    number = "4"

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(shelf, id="command")
        self.top = 0

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """All of it, or from where it was scrolled to."""
        del scene
        sheet = self.sheet
        title = f"Command on {self.shelf.host}" if self.shelf.host else "Command"
        if sheet is None:
            return Drawing("Command", [])
        if sheet.recipe is None:
            return Drawing("Command", [[("None: what is wrong above comes first.", "dim")]])
        body = recipe.command_rows(sheet.recipe, sheet.findings, cells)
        self.top = min(self.top, max(0, len(body) - rows))
        port = next((r.text for r in sheet.recipe.rows if r.key == "placement.port"), "")
        summary: Line = [("port ", "dim"), (port, "text")] if port else []
        hidden = len(body) - rows
        note: Line = [(f"{hidden} more lines", "dim"), ("  ", "")] if hidden > 0 else []
        return Drawing(title, body[self.top : self.top + rows], summary, [*note, *Y_COPIES])

    def move(self, rows: int) -> None:
        """Scroll."""
        self.top = max(0, self.top + rows)


class RecipePanel(Listed):
    """Every value, and where it was written."""

    number = "5"

    def __init__(self, shelf: Shelf) -> None:
        super().__init__(id="recipe")
        self.shelf = shelf

    def count(self) -> int:
        """Its values."""
        sheet = self.shelf.sheet
        return len(sheet.recipe.rows) if sheet and sheet.recipe else 0

    def head(self, cells: int) -> list[Line]:
        """Heads, once there is something under them."""
        return [recipe.recipe_head(cells)] if self.count() else []

    def item(self, index: int, cells: int) -> Line:
        """One value."""
        sheet = self.shelf.sheet
        return recipe.recipe_line(sheet.recipe.rows[index], cells) if sheet and sheet.recipe else []

    def nothing(self, cells: int) -> list[Line]:
        """It cannot be resolved."""
        del cells
        if self.shelf.sheet is None:
            return []
        return [[("None: what is wrong above comes first.", "dim")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """For which host."""
        del cells
        title = f"Recipe on {self.shelf.host}" if self.shelf.host else "Recipe"
        return title, [(str(self.count()), "strong"), (" values", "dim")], []
