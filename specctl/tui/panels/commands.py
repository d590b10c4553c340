"""The list of the command log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.listing import Listed
from specctl.tui.render.chrome import hints
from specctl.tui.render.commands import command_line, detail_lines, head_line, matches

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.remote_command import RemoteCommand
    from specctl.tui.render.lines import Line


class CommandsPanel(Listed):
    """One line a command, the newest last; reads are left out until they are asked for."""

    number = "1"

    def __init__(self, read: Callable[[], Sequence[RemoteCommand]]) -> None:
        super().__init__(id="command-list")
        self._read = read
        self.with_reads = False
        self.found: list[RemoteCommand] = []
        self.hidden = 0
        self.follows = True
        """The cursor stays on the newest."""

        self._count = 0

    def look(self) -> None:
        """Take in what was done by now; the cursor stays on its entry, or on the newest."""
        commands = list(self._read())
        shown = [c for c in commands if self.with_reads or c.changes or c.is_failure]
        self.hidden = len(commands) - len(shown)
        before = self.chosen
        self.found = [command for command in shown if matches(command, self.terms)]
        if self.follows:
            self.at = max(0, len(self.found) - 1)
        elif before is not None and before in self.found:
            self.at = self.found.index(before)

    @property
    def chosen(self) -> RemoteCommand | None:
        """The one under the cursor."""
        return self.found[self.at] if self.at < len(self.found) else None

    @property
    def keeps_cursor(self) -> bool:
        """Marked without the focus too."""
        return True

    def count(self) -> int:
        """How many are shown."""
        return len(self.found)

    def head(self, cells: int) -> list[Line]:
        """The names of the columns."""
        return [head_line(cells)]

    def item(self, index: int, cells: int) -> Line:
        """One command."""
        return command_line(self.found[index], cells, self.scene.offset_s)

    def more(self, cells: int) -> list[Line]:
        """The exact command line under the chosen one, once it was chosen."""
        chosen = self.chosen
        return [] if self.follows or chosen is None else detail_lines(chosen, cells)

    def nothing(self, cells: int) -> list[Line]:
        """Why there is none."""
        del cells
        if self.terms:
            return [[("Nothing matches ", "dim"), (self.terms, "strong"), (".", "dim")]]
        if self.hidden:
            return [
                [("Nothing was changed in this session. ", "dim"), *hints([("w", "shows reads")])]
            ]
        return [[("Nothing was done on any host in this session yet.", "dim")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """What is shown, and what is not."""
        del cells
        summary: Line = [(f"{len(self.found):,}", "text"), (" shown", "dim")]
        if self.hidden:
            summary += [("  ", ""), (f"{self.hidden:,} reads hidden", "dim")]
        note = hints([("w", "hides reads" if self.with_reads else "shows reads"), ("y", "copies")])
        return "Commands", summary, note

    def choose(self, index: int) -> None:
        """At the newest it follows again; elsewhere it stays."""
        super().choose(index)
        self.follows = index >= self.count()
