"""Profiles: will it start, and what exactly would be run?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from specctl.tui.actions import Target
from specctl.tui.arrange import NARROW_CELLS, Places, arrange_profiles, is_short
from specctl.tui.asking import Question
from specctl.tui.listing import Listed
from specctl.tui.listscreen import ListScreen
from specctl.tui.panels.profiles import (
    CommandPanel,
    FactsPanel,
    ProfilesList,
    RecipePanel,
    TextPanel,
)
from specctl.tui.render.standing import worst
from specctl.tui.screen import bindings
from specctl.tui.slots import name_hidden

if TYPE_CHECKING:
    from specctl.tui.panel import Panel
    from specctl.tui.shelf import Shelf

NAMES = {"text": "Text", "facts": "Facts", "command": "Command", "recipe": "Recipe"}
LOWER = ("command", "recipe")


class ProfilesScreen(ListScreen):
    """List, facts, text with marks, command, recipe."""

    where = "profiles"
    AUTO_FOCUS = "#profiles"
    BINDINGS = bindings("profiles")

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self.shelf = shelf
        self.slot, self.lower = "text", "command"
        self.list = ProfilesList(shelf)
        self.facts = FactsPanel(shelf)
        self.text = TextPanel(shelf)
        self.command = CommandPanel(shelf)
        self.recipe = RecipePanel(shelf)

    @property
    def main(self) -> Listed:
        """Every profile."""
        return self.list

    def narrowed(self) -> None:
        """The first that is left is chosen, unless the chosen one is."""
        self.changed()
        self.specctl.work.read_profile(self.shelf)

    def panels(self) -> list[Panel]:
        """In the order of their numbers."""
        return [self.list, self.facts, self.text, self.command, self.recipe]

    def places(self, cells: int, rows: int) -> Places:
        """By how many profiles there are."""
        return arrange_profiles(
            cells, rows, profiles=max(3, self.list.count()), slot=self.slot, lower=self.lower
        )

    def arranged(self) -> None:
        """Name the panels that share a slot with the one shown."""
        shown_in = tuple(NAMES) if self.is_stacked else LOWER
        name_hidden(self.panels(), NAMES, shown_in=shown_in, is_zoomed=self.zoomed is not None)

    @property
    def is_stacked(self) -> bool:
        """All panels but the first share one slot."""
        return is_short(self.app.size.height) or self.app.size.width < NARROW_CELLS

    def crumbs(self) -> list[str]:
        """From the fleet, over the host whose build they are checked against."""
        return ["Fleet", *([self.shelf.host] if self.shelf.host else []), "Profiles"]

    def target(self) -> Target:
        """The host they would be started on."""
        scene, host = self.specctl.scene, self.shelf.host
        if host is None:
            return Target(read_only=scene.read_only)
        state = scene.state.host(host)
        return Target(host, state, worst(state), scene.is_read_only(host))

    def on_mount(self) -> None:
        """Show what is known, and read the files as they are now."""
        self.specctl.work.read_profiles(self.shelf)

    def changed(self) -> None:
        """The shelf has something new; the cursor stays on its profile."""
        found, chosen = self.list.found, self.shelf.chosen
        if chosen in found:
            self.list.at = found.index(chosen)
        elif found:
            self.list.at = min(self.list.at, len(found) - 1)
            self.shelf.choose(found[self.list.at])
        self.repaint()

    @on(Listed.Moved)
    def follow_cursor(self, message: Listed.Moved) -> None:
        """The other panels follow the list."""
        if message.panel is self.list:
            self.shelf.choose(self.list.chosen)
            for panel in (self.text, self.recipe):
                panel.at = panel.top = 0
            self.command.top = 0
            self.specctl.work.read_profile(self.shelf)
        self.repaint()

    # ---------------------------------------------------------------- keys

    def show_panel(self, panel: Panel) -> None:
        """Bring the panel into the slot it shares, then focus it."""
        if panel.id in NAMES:
            self.slot = panel.id
        if panel.id in LOWER:
            self.lower = panel.id
        self.place()
        super().show_panel(panel)
        self.repaint()

    def do_row_open(self) -> None:
        """Of a profile: choose a host to start it on; of a finding: the line that says so."""
        if self.panel is self.text:
            place = self.text.place()
            if place is not None and self.shelf.host is not None:
                self.specctl.work.open_source(self.shelf.host, place)
            else:
                self.specctl.tell("No line to open", "This finding names no line of a build.")
        elif self.shelf.chosen is not None:
            self.specctl.work.start_somewhere(self.shelf)

    def do_server_start(self) -> None:
        """The plan of starting it on the host of this screen."""
        chosen, host = self.shelf.chosen, self.shelf.host
        if chosen is None:
            return
        if host is None:
            self.specctl.work.start_somewhere(self.shelf)
        else:
            self.specctl.work.plan_start(host, chosen.name)

    def do_trial_start(self) -> None:
        """Try it against its baseline on the host of this screen."""
        chosen, host = self.shelf.chosen, self.shelf.host
        if chosen is not None and host is not None:
            self.specctl.work.plan_trial(host, chosen.name)

    def do_profile_edit(self) -> None:
        """Open it in the editor, and check it again after."""
        if self.shelf.chosen is not None and not self._is_guarded("Edit"):
            self.specctl.work.edit_profile(self.shelf)

    def do_profile_fix(self) -> None:
        """Apply the fix of the finding under the cursor, of another panel that of the first."""
        if self._is_guarded("Fix"):
            return
        if self.panel is not self.text or self.text.finding is None:
            self.show_panel(self.text)
            self.text.step(1)
        if self.text.finding is not None:
            self.specctl.work.fix_profile(self.shelf, self.text.finding)

    def _is_guarded(self, what: str) -> bool:
        """Files are not written in this session; says so."""
        words = "Files are not written from a browser." if self.specctl.is_web else ""
        words = "This session is read-only." if self.specctl.read_only else words
        if words:
            self.specctl.tell(f"{what} is off", words, severity="warning")
        return bool(words)

    def do_profile_add(self) -> None:
        """Type the name of a new profile that extends the chosen one."""
        chosen = self.shelf.chosen
        if chosen is None or self._is_guarded("New"):
            return

        def answered(name: str | None) -> None:
            if name:
                self.list.narrow("")
                self.specctl.work.new_profile(self.shelf, name)

        label = f"new profile that extends {chosen.name}: "
        self.ask(Question(label, lambda _: None, answered, "writes it"))

    def do_profile_import(self) -> None:
        """A profile of a launch command that is pasted, or of a script in a file."""
        if self._is_guarded("Import"):
            return

        def answered(answer: str | None) -> None:
            if answer and answer.strip():
                self.specctl.work.ask_name(self, answer.strip())

        label = "import a launch command, or a file: "
        self.ask(Question(label, lambda _: None, answered, "goes on"))

    def do_match_next(self) -> None:
        """The next finding in the text."""
        self._step(1)

    def do_match_previous(self) -> None:
        """The finding before."""
        self._step(-1)

    def _step(self, by: int) -> None:
        self.show_panel(self.text)
        if not self.text.step(by):
            self.specctl.tell("Nothing is wrong with it", "There is no finding to go to.")
        self.repaint()

    def do_copy_selection(self) -> None:
        """Copy the exact command; of a finding its words, of a value the value."""
        sheet, panel = self.shelf.sheet, self.panel
        finding = self.text.finding if panel is self.text else None
        if finding is not None:
            self.specctl.copy(f"{finding}\n{finding.fix}".strip(), "the finding")
        elif panel is self.recipe and sheet and sheet.recipe:
            item = sheet.recipe.rows[self.recipe.at]
            self.specctl.copy(f"{item.key} = {item.text}", "the value")
        elif sheet and sheet.recipe:
            self.specctl.copy(sheet.recipe.command, "the command")
        else:
            self.specctl.tell("Nothing to copy", "It makes no command yet.", severity="warning")

    def do_files_read(self) -> None:
        """Read the files again, and check them again."""
        self.specctl.work.read_profiles(self.shelf, afresh=True)

    def do_diff_show(self) -> None:
        """Hold it against another profile, or against what runs."""
        self.specctl.work.compare_profiles(self.shelf)

    def do_sibling_next(self) -> None:
        """Against the next host's build."""
        self._sibling(1)

    def do_sibling_previous(self) -> None:
        """Against the build of the host before."""
        self._sibling(-1)

    def _sibling(self, step: int) -> None:
        names: list[str | None] = [None, *self.specctl.host_order()]
        at = names.index(self.shelf.host) if self.shelf.host in names else 0
        self.shelf.turn(names[(at + step) % len(names)])
        self.specctl.work.read_profiles(self.shelf)
        self.repaint()
