"""The panels of the source screen: algorithms, what is said of one, flags, a file, all files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.source import Place
from specctl.tui.listing import Listed
from specctl.tui.render import files, source, viewer
from specctl.tui.render.lines import Drawing, Line, error_lines, wrap
from specctl.tui.render.listing import window

if TYPE_CHECKING:
    from specctl.domain.source import Algorithm, Flag
    from specctl.tui.desk import SourceDesk
    from specctl.tui.render.syntax import Code
    from specctl.tui.scene import Scene

LEFT_STEP = 8
ENTER_OPENS: Line = [("enter", "key"), (" opens the line", "dim")]


class SourcePart(Listed):
    """A list about one host's tree."""

    def __init__(self, desk: SourceDesk, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.desk = desk

    def place(self) -> Place | None:
        """The line of the tree that the chosen item is about."""
        return None


def waiting(desk: SourceDesk, now_s: float, cells: int) -> list[Line]:
    """Why there is no tree, or how long it has been read."""
    if desk.error is not None:
        retry: Line = [("  ", ""), ("r", "key"), (" tries again", "dim")]
        return [*error_lines(desk.error, cells), retry]
    if not desk.is_reading:
        return []
    since = figures.spoken(max(0.0, now_s - desk.since_s))
    return [[("◐ ", "data"), (f"Reading the tree on {desk.host}", "text"), (f", {since}", "dim")]]


class AlgorithmsPanel(SourcePart):
    """What the build can do."""

    number = "1"

    def __init__(self, desk: SourceDesk) -> None:
        super().__init__(desk, id="algorithms")

    @property
    def keeps_cursor(self) -> bool:
        """Other panels follow it."""
        return True

    def count(self) -> int:
        """Its algorithms."""
        return len(self.desk.tree.algorithms) if self.desk.tree else 0

    @property
    def chosen(self) -> Algorithm | None:
        """The one under the cursor."""
        tree = self.desk.tree
        return tree.algorithms[self.at] if tree and self.at < self.count() else None

    def place(self) -> Place | None:
        """Where it is declared."""
        chosen = self.chosen
        return chosen.place if chosen else None

    def head(self, cells: int) -> list[Line]:
        """Heads, once there is something under them."""
        return [source.algorithms_head(cells)] if self.count() else []

    def item(self, index: int, cells: int) -> Line:
        """One algorithm."""
        tree = self.desk.tree
        return source.algorithm_line(tree.algorithms[index], cells) if tree else []

    def more(self, cells: int) -> list[Line]:
        """Aliases and other workers."""
        return source.algorithm_more(self.chosen, cells) if self.chosen else []

    def nothing(self, cells: int) -> list[Line]:
        """Reading, failed, or a build without any."""
        tree = self.desk.tree
        if tree is None:
            return waiting(self.desk, self.scene.clock_s, cells)
        return source.no_algorithms(tree, cells)

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many, in which version."""
        del cells
        tree = self.desk.tree
        note: Line = []
        if tree is not None and self.desk.is_reading:
            note = [("◐ reading again", "data")]
        return "Algorithms", source.tree_summary(tree) if tree else [], note


class RulesPanel(SourcePart):
    """What the source says of the chosen algorithm, each with its line."""

    number = "2"

    def __init__(self, desk: SourceDesk) -> None:
        super().__init__(desk, id="rules")

    def count(self) -> int:
        """Restrictions, architectures, problems."""
        return len(self.desk.said)

    def place(self) -> Place | None:
        """The line that says it."""
        said = self.desk.said
        return said[self.at].place if self.at < len(said) else None

    def item(self, index: int, cells: int) -> Line:
        """One of them."""
        return source.said_line(self.desk.said[index], self.desk.usual_file, cells)

    def more(self, cells: int) -> list[Line]:
        """All its words, and the condition."""
        return source.said_more(self.desk.said[self.at], self.desk.usual_file, cells)

    def nothing(self, cells: int) -> list[Line]:
        """No restriction was found."""
        del cells
        chosen = self.desk.algorithm
        return [[(f"No restriction of {chosen.name} was found.", "dim")]] if chosen else []

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """Of which algorithm."""
        del cells
        chosen = self.desk.algorithm
        title = f"{chosen.name}: what the source says" if chosen else "What the source says"
        count: Line = [(str(self.count()), "strong")] if self.desk.said else []
        return title, count, self._note() if self.desk.said else []

    def _note(self) -> Line:
        """Which file the bare numbers are lines of."""
        name = self.desk.usual_file.rpartition("/")[2]
        return [(name, "dim"), ("  ", ""), *ENTER_OPENS] if name else ENTER_OPENS


class FlagsPanel(SourcePart):
    """Every flag of the command line, the algorithm's own first."""

    number = "3"

    def __init__(self, desk: SourceDesk) -> None:
        super().__init__(desk, id="flags")

    @property
    def chosen(self) -> Flag | None:
        """The one under the cursor."""
        return self.desk.flags[self.at] if self.at < len(self.desk.flags) else None

    def count(self) -> int:
        """Those that pass the filter."""
        return len(self.desk.flags)

    def place(self) -> Place | None:
        """Where it is declared."""
        return self.chosen.place if self.chosen else None

    def narrow(self, terms: str) -> None:
        """Show only flags that match."""
        super().narrow(terms)
        self.desk.narrow("flags", terms)

    def head(self, cells: int) -> list[Line]:
        """Heads, once there is something under them."""
        return [source.flags_head(cells)] if self.count() else []

    def item(self, index: int, cells: int) -> Line:
        """One flag."""
        return source.flag_line(self.desk.flags[index], cells)

    def more(self, cells: int) -> list[Line]:
        """Choices, aliases, help."""
        return source.flag_more(self.chosen, cells) if self.chosen else []

    def nothing(self, cells: int) -> list[Line]:
        """Nothing matches."""
        del cells
        if self.desk.tree is None:
            return []
        words = f"No flag matches {self.terms}." if self.terms else "No flag was found."
        return [[(words, "dim")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """How many, and how many of them are the algorithm's own."""
        del cells
        tree, chosen = self.desk.tree, self.desk.algorithm
        if tree is None:
            return "Flags", [], []
        summary: Line = [(str(self.count()), "strong")]
        if self.terms:
            summary = [("/" + self.terms, "prompt"), ("  ", ""), *summary]
        if chosen is not None and self.desk.own_flags:
            summary += [("  ", ""), (f"{self.desk.own_flags} for {chosen.name}", "dim")]
        return "Flags", summary, []


class FilesPanel(SourcePart):
    """The tree, folded; or what a search found in it."""

    number = "5"

    def __init__(self, desk: SourceDesk) -> None:
        super().__init__(desk, id="files")

    def count(self) -> int:
        """Hits, or rows of the tree."""
        return len(self.desk.hits.found) if self.desk.hits else len(self.desk.entries)

    @property
    def keeps_cursor(self) -> bool:
        """`n` goes through hits from the text too."""
        return self.desk.hits is not None

    @property
    def entry(self) -> files.Entry | None:
        """The row under the cursor; None while hits are shown."""
        rows = self.desk.entries
        return rows[self.at] if self.desk.hits is None and self.at < len(rows) else None

    def place(self) -> Place | None:
        """The line that was found, or the file."""
        hits = self.desk.hits
        if hits is not None:
            return hits.found[self.at].place if self.at < len(hits.found) else None
        entry = self.entry
        return None if entry is None or entry.is_folder else Place(entry.path)

    def narrow(self, terms: str) -> None:
        """Show only files that match."""
        super().narrow(terms)
        self.desk.narrow("files", terms)

    def item(self, index: int, cells: int) -> Line:
        """One hit or one row."""
        desk = self.desk
        if desk.hits is not None:
            found = desk.hits.found
            is_first = index == self.top or found[index].place.file != found[index - 1].place.file
            return files.hit_line(found[index], cells, names_file=is_first)
        name = f"{desk.algorithm.name}" if desk.algorithm else ""
        known = desk.tree.files if desk.tree else {}
        return files.entry_line(desk.entries[index], known, name, cells, is_flat=desk.is_flat)

    def nothing(self, cells: int) -> list[Line]:
        """Nothing was found, or there is no tree yet."""
        desk = self.desk
        if desk.finding:
            return [[("◐ ", "data"), (f"Searching for {desk.finding}", "text")]]
        if desk.hits is not None:
            out: list[Line] = [[(f"Nothing in the tree has {desk.hits.pattern}.", "text")]]
            return [*out, *([(text, "dim")] for text in wrap(desk.hits.note, cells))]
        return [[(f"No file matches {self.terms}.", "dim")]] if self.terms else []

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """What is listed."""
        del cells
        desk = self.desk
        if desk.hits is not None or desk.finding:
            found = len(desk.hits.found) if desk.hits else 0
            pattern = desk.finding or (desk.hits.pattern if desk.hits else "")
            summary: Line = [
                (pattern, "prompt"),
                ("  ", ""),
                (f"{found:,}", "strong"),
                (" lines", "dim"),
            ]
            note: Line = [(desk.hits.note, "dim")] if desk.hits and desk.hits.note else []
            return "Found", summary, [*note, *([("  ", "")] if note else []),
                                      ("esc", "key"), (" shows the files", "dim")]  # fmt: skip
        total = len(desk.tree.files) if desk.tree else 0
        summary = [(f"{total:,}", "strong"), (" files", "dim")] if total else []
        if self.terms:
            shown = (f"{self.count():,} of ", "dim")
            summary = [("/" + self.terms, "prompt"), ("  ", ""), shown, *summary]
        return "Files", summary, []


class ViewerPanel(SourcePart):
    """A file of the tree; its cursor is a line."""

    number = "4"

    def __init__(self, desk: SourceDesk) -> None:
        super().__init__(desk, id="viewer")
        self.left = 0
        self.found: viewer.Search | None = None
        self._searched: tuple[str, int] = ("", 0)
        self._sought: int | None = None
        """The line that was brought in sight, as long as the cursor stays there."""

        self._sought_rows = 0

    @property
    def code(self) -> Code | None:
        """The file, once it was read."""
        place = self.desk.place
        return self.desk.codes.get(place.file) if place else None

    def count(self) -> int:
        """Its lines."""
        return len(self.code.lines) if self.code else 0

    def place(self) -> Place | None:
        """The line under the cursor."""
        place = self.desk.place
        return Place(place.file, self.at + 1) if place else None

    def show(self, line: int | None) -> None:
        """Put a line in sight, a third of the way down when it was not there already."""
        self.at = max(0, (line or 1) - 1)
        self.left = 0
        if not self.top <= self.at < self.top + self.inner_rows - 1:
            self._sought, self._sought_rows = self.at, 0

    def _seek(self, rows: int) -> None:
        """A line that was brought in sight has its place in as many rows as there are."""
        if self._sought == self.at and self._sought_rows != rows:
            self._sought_rows, self.top = rows, max(0, self.at - rows // 3)
        elif self._sought != self.at:
            self._sought = None

    def narrow(self, terms: str) -> None:
        """Search the file; the cursor goes to the first match at or after it."""
        self.terms = terms
        self._search()
        if self.found is not None and self.found.lines:
            self.jump(next((i for i in self.found.lines if i >= self.at), self.found.lines[0]))

    def jump(self, index: int) -> None:
        """Put the cursor on a line, in sight."""
        self.show(index + 1)

    def step(self, by: int) -> bool:
        """To the next match, round at the end; False when there is none."""
        self._search()
        lines = self.found.lines if self.found else ()
        if not lines:
            return False
        after = [i for i in lines if (i > self.at if by > 0 else i < self.at)]
        self.jump((after[0] if by > 0 else after[-1]) if after else lines[0 if by > 0 else -1])
        return True

    def _search(self) -> None:
        code = self.code
        if code is None or not self.terms:
            self.found = None
        elif self.found is None or self._searched != (self.terms, id(code)):
            self.found, self._searched = viewer.search(code, self.terms), (self.terms, id(code))

    def pick(self, row: int) -> bool:
        """Put the cursor on the line that was clicked."""
        self.choose(self.top + row)
        return super().pick(row)

    def slide(self, by: int) -> None:
        """Look further right or left."""
        self.left = max(0, self.left + by * LEFT_STEP)

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The lines in sight, or what is missing."""
        desk, code = self.desk, self.code
        if desk.place is None:
            return Drawing("Text", [])
        if code is None:
            return Drawing(desk.place.file, self._missing(scene, desk.place.file, cells))
        self._search()
        total = len(code.lines)
        self.at = min(self.at, max(0, total - 1))
        self._seek(rows)
        self.top = window(self.at, self.top, rows, total)
        known = desk.tree.files.get(code.name) if desk.tree else None
        return viewer.draw_code(
            code, cells, rows, at=self.at, top=self.top, left=self.left, found=self.found,
            digest=(known.digest or "") if known else "",
            note=source.tree_note(desk.tree) if desk.tree else None,
        )  # fmt: skip

    def _missing(self, scene: Scene, file: str, cells: int) -> list[Line]:
        del scene
        error = self.desk.errors.get(file)
        if error is None:
            return [[("◐ ", "data"), (f"Reading {file}", "text")]]
        return error_lines(error, cells)
