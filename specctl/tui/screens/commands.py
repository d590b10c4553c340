"""Everything that was done on hosts in this session, to be read, filtered and copied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.actions import Target
from specctl.tui.arrange import Places, zoomed
from specctl.tui.listscreen import ListScreen
from specctl.tui.panels.commands import CommandsPanel
from specctl.tui.screen import bindings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.remote_command import RemoteCommand
    from specctl.tui.panel import Panel


class CommandsScreen(ListScreen):
    """One list; under the cursor the exact command line."""

    where = "commands"
    AUTO_FOCUS = "#command-list"
    BINDINGS = bindings("commands")

    def __init__(self, read: Callable[[], Sequence[RemoteCommand]]) -> None:
        super().__init__()
        self.list = CommandsPanel(read)

    @property
    def main(self) -> CommandsPanel:
        """The one panel."""
        return self.list

    def narrowed(self) -> None:
        """The newest that is left is looked at."""
        self.list.follows = True
        self.list.look()

    def panels(self) -> list[Panel]:
        """The one."""
        return [self.list]

    def places(self, cells: int, rows: int) -> Places:
        """Everything between header and footer."""
        return zoomed("command-list", cells, rows)

    def crumbs(self) -> list[str]:
        """From the fleet."""
        return ["Fleet", "Commands"]

    def target(self) -> Target:
        """The host of the chosen entry; without one what lies below."""
        scene, chosen = self.specctl.scene, self.list.chosen
        if chosen is None:
            return self.specctl.target_below(self)
        state = scene.state.host(chosen.host)
        return Target(chosen.host, state, None, scene.is_read_only(chosen.host))

    def repaint(self) -> None:
        """With what was done by now."""
        self.list.look()
        super().repaint()

    def do_cursor_last(self) -> None:
        """To the newest, and stay there."""
        self.list.follows = True
        self.repaint()

    def do_commands_reads(self) -> None:
        """With what only read, or without."""
        self.list.with_reads = not self.list.with_reads
        self.repaint()

    def do_row_open(self) -> None:
        """Unfold the one under the cursor, or fold it."""
        self.list.follows = not self.list.follows if self.list.count() else True
        self.repaint()

    def do_copy_selection(self) -> None:
        """Copy the exact command line."""
        chosen = self.list.chosen
        if chosen is not None:
            self.specctl.copy(chosen.line, "the command")
