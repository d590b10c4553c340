"""A host's source tree: what can this build do, and which line says so?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from specctl.tui.actions import Target
from specctl.tui.arrange import NARROW_CELLS, Places, arrange_source, is_short
from specctl.tui.asking import AskingScreen, Question
from specctl.tui.listing import Listed
from specctl.tui.panel import Panel
from specctl.tui.panels.source import (
    AlgorithmsPanel,
    FilesPanel,
    FlagsPanel,
    RulesPanel,
    SourcePart,
    ViewerPanel,
)
from specctl.tui.render.standing import worst
from specctl.tui.screen import bindings
from specctl.tui.slots import name_hidden

if TYPE_CHECKING:
    from specctl.domain.source import Place
    from specctl.tui.desk import SourceDesk

NAMES = {"rules": "Rules", "flags": "Flags", "viewer": "Text", "files": "Files"}
ROWS_WITHOUT_TREE = 8
"""Room for why there is none."""

FOLLOW_S = 0.12
"""A cursor that rests this long has its line shown."""


class SourceScreen(AskingScreen):
    """Algorithms, what is said of one, flags; a file; all files."""

    where = "source"
    AUTO_FOCUS = "#algorithms"
    BINDINGS = bindings("source")

    def __init__(self, desk: SourceDesk, place: Place | None = None) -> None:
        super().__init__()
        self.slot = "viewer" if place else "rules"
        self._first = place
        self._stand(desk)
        self.algorithms = AlgorithmsPanel(desk)
        self.rules = RulesPanel(desk)
        self.flags = FlagsPanel(desk)
        self.viewer = ViewerPanel(desk)
        self.files = FilesPanel(desk)

    def _stand(self, desk: SourceDesk) -> None:
        self.desk = desk
        self._shape: tuple[object, ...] = ()

    @property
    def parts(self) -> list[SourcePart]:
        """All panels, by number."""
        return [self.algorithms, self.rules, self.flags, self.viewer, self.files]

    def panels(self) -> list[Panel]:
        """In the order of their numbers."""
        return list(self.parts)

    def places(self, cells: int, rows: int) -> Places:
        """By how much there is to list."""
        desk = self.desk
        return arrange_source(
            cells, rows,
            algorithms=len(desk.tree.algorithms) if desk.tree else ROWS_WITHOUT_TREE,
            said=len(desk.said),
            slot=self.slot,
            has_hits=desk.hits is not None or bool(desk.finding),
        )  # fmt: skip

    def arranged(self) -> None:
        """Name the panels that share a slot with the one shown."""
        shown_in = (
            tuple(NAMES)
            if self.is_stacked
            else (self.slot,)
            if self.slot == "files"
            else ("viewer",)
        )
        name_hidden(self.parts, NAMES, shown_in=shown_in, is_zoomed=self.zoomed is not None)

    @property
    def is_stacked(self) -> bool:
        """All panels but the first share one slot."""
        return is_short(self.app.size.height) or self.app.size.width < NARROW_CELLS

    def crumbs(self) -> list[str]:
        """From the fleet over the host."""
        return ["Fleet", self.desk.host, "Source"]

    def target(self) -> Target:
        """The host the tree is on."""
        scene, host = self.specctl.scene, self.desk.host
        state = scene.state.host(host)
        return Target(host, state, worst(state), scene.is_read_only(host))

    # ---------------------------------------------------------------- reading

    def on_mount(self) -> None:
        """Show what is known, and look whether it still holds."""
        self._restore()
        self.specctl.work.read_tree(self.desk)
        if self._first is not None:
            self.show_place(self._first)

    def _restore(self) -> None:
        """Put the cursors where they were when this tree was left."""
        desk = self.desk
        if desk.tree is not None and desk.algorithm in desk.tree.algorithms:
            self.algorithms.at = desk.tree.algorithms.index(desk.algorithm)
        if desk.place is not None:
            self.viewer.show(desk.place.line)

    def changed(self) -> None:
        """The desk has something new."""
        if self.desk.tree is not None and self.desk.place is None:
            self._follow(self.algorithms)
        self.repaint()

    def repaint(self) -> None:
        """Lists take the rows they need."""
        desk = self.desk
        shape = (desk.tree_hash, len(desk.said), desk.hits is None, desk.finding == "")
        if shape != self._shape:
            self._shape = shape
            self.place()
        super().repaint()

    def show(self, desk: SourceDesk) -> None:
        """Turn to another host's tree."""
        self._stand(desk)
        for part in self.parts:
            part.desk, part.at, part.top = desk, 0, 0
        self.on_mount()
        self.repaint()

    @on(Listed.Moved)
    def follow_cursor(self, message: Listed.Moved) -> None:
        """The other panels follow the cursor of this one."""
        panel = message.panel
        if panel is self.algorithms:
            self.desk.choose(self.algorithms.chosen)
            self.rules.at = self.rules.top = self.flags.at = self.flags.top = 0
            if self.desk.hits is None:
                self.files.at = self.files.top = 0
        if isinstance(panel, SourcePart) and panel is not self.viewer:
            self._follow(panel)
        self.repaint()

    def _follow(self, panel: SourcePart) -> None:
        """Show the line the panel's cursor is about, once the cursor rests."""
        place = panel.place()
        if place is not None and (panel is not self.files or self.viewer.display):
            self._look(place, after_s=FOLLOW_S)

    def _look(self, place: Place, *, after_s: float = 0.0) -> None:
        desk = self.desk
        if place.file in desk.codes:
            self._turn(place)
            return
        if not after_s:
            desk.place = place
        self.specctl.work.read_file(desk, place, after_s=after_s)

    def _turn(self, place: Place) -> None:
        self.desk.place = place
        self.viewer.show(place.line)

    def found(self) -> None:
        """A search ended: its first line is shown."""
        self.files.at = self.files.top = 0
        if self.desk.hits is not None and self.desk.hits.found:
            self._look(self.desk.hits.found[0].place)
        self.repaint()

    def arrived(self, place: Place) -> None:
        """A file that was wanted is here, or will not come."""
        self._turn(place)
        self.repaint()

    def show_place(self, place: Place) -> None:
        """Open a file at a line, and look at it."""
        self._look(place)
        self.slot = "viewer"
        self.place()
        self.show_panel(self.viewer)

    # ---------------------------------------------------------------- keys

    def show_panel(self, panel: Panel) -> None:
        """Bring the panel into the slot it shares, then focus it."""
        if panel.id in NAMES:
            self.slot = panel.id
        self.place()
        super().show_panel(panel)
        self.repaint()

    def do_row_open(self) -> None:
        """Open the line, the file, or the folder."""
        panel = self.panel
        entry = self.files.entry if panel is self.files else None
        if entry is not None and entry.is_folder:
            self.desk.fold(entry.path)
            self.repaint()
        elif isinstance(panel, SourcePart) and panel is not self.viewer:
            place = panel.place()
            if place is not None:
                self.show_place(place)

    @on(Panel.Opened)
    def open_clicked(self) -> None:
        """A double click opens."""
        self.do_row_open()

    def do_view_left(self) -> None:
        """Look further left; in the list of files close the folder."""
        self._sideways(-1)

    def do_view_right(self) -> None:
        """Look further right; in the list of files open the folder."""
        self._sideways(1)

    def _sideways(self, by: int) -> None:
        if self.panel is self.files:
            entry = self.files.entry
            if entry is not None and entry.is_folder and entry.is_open == (by < 0):
                self.desk.fold(entry.path)
        else:
            self.viewer.slide(by)
        self.repaint()

    def do_filter_open(self) -> None:
        """Search the file, or filter the list that has the focus."""
        panel = self.panel
        filtered = (self.files, self.viewer)
        listed = next((part for part in filtered if part is panel), self.flags)
        if self.is_stacked:
            self.show_panel(listed)
        before = listed.at

        def answered(text: str | None) -> None:
            if text is None:
                listed.narrow("")
                listed.at = before if listed is self.viewer else 0
            listed.focus()

        searches = listed is self.viewer
        question = Question(
            "/", listed.narrow, answered, "finds it" if searches else "keeps it",
            lambda: self._found_words() if searches else f"{listed.count():,} match",
        )  # fmt: skip
        self.ask(question, listed.terms)

    def _found_words(self) -> str:
        found = self.viewer.found
        return f"{len(found.lines):,} lines" if found else ""

    def do_source_grep(self) -> None:
        """Search every file of the tree."""

        def answered(pattern: str | None) -> None:
            if pattern:
                self.files.at = self.files.top = 0
                self.specctl.work.find(self.desk, pattern)
                self.show_panel(self.files if self.is_stacked else self.viewer)

        self.ask(Question("grep ", lambda _: None, answered, "searches every file"))

    def do_match_next(self) -> None:
        """The next match in the file; without a search the next line that was found."""
        self._step(1)

    def do_match_previous(self) -> None:
        """The match before."""
        self._step(-1)

    def _step(self, by: int) -> None:
        desk = self.desk
        if self.viewer.terms and self.viewer.step(by):
            self.repaint()
        elif desk.hits is not None and desk.hits.found:
            total = len(desk.hits.found)
            self.files.choose((self.files.at + by) % total)
            place = self.files.place()
            if place is not None:
                self._look(place)
            self.repaint()
        else:
            what = f"{self.viewer.terms} is not in this file." if self.viewer.terms else (
                "/ searches this file, ctrl+g every file."
            )  # fmt: skip
            self.specctl.tell("No match", what)

    def do_copy_selection(self) -> None:
        """Copy the path and line of what is selected."""
        panel = self.panel
        place = panel.place() if isinstance(panel, SourcePart) else None
        if place is None:
            super().do_copy_selection()
        else:
            root = self.desk.tree.path.rstrip("/") + "/" if self.desk.tree else ""
            self.specctl.copy(f"{root}{place}", "its path")

    def do_files_read(self) -> None:
        """Look again at the tree."""
        self.specctl.work.read_tree(self.desk, afresh=True)
        self.repaint()

    def do_diff_show(self) -> None:
        """Hold the build against that of another host."""
        self.specctl.work.compare_sources(self.desk)

    def do_sibling_next(self) -> None:
        """The next host's tree."""
        self._sibling(1)

    def do_sibling_previous(self) -> None:
        """The tree of the host before."""
        self._sibling(-1)

    def _sibling(self, step: int) -> None:
        names = self.specctl.host_order()
        if names:
            at = names.index(self.desk.host) if self.desk.host in names else 0
            self.show(self.specctl.work.desk(names[(at + step) % len(names)]))

    def do_go_back(self) -> None:
        """Leave the hits, the filter, the zoom, then the screen; one a press."""
        panel = self.panel
        if isinstance(panel, SourcePart) and panel.terms:
            panel.narrow("")
        elif self.desk.hits is not None or self.desk.finding:
            self.desk.hits, self.desk.finding = None, ""
            self.files.at = self.files.top = 0
        else:
            super().do_go_back()
            return
        self.repaint()
