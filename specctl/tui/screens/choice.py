"""Choosing one of several names: a host to start on, a build or a profile to hold against."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from textual import on

from specctl.tui.editor import Editor
from specctl.tui.listing import Sifted
from specctl.tui.panel import Panel
from specctl.tui.render.chrome import hints
from specctl.tui.render.lines import Line, middle, row
from specctl.tui.render.listing import holds
from specctl.tui.screen import Dialog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

NAME_CELLS = 28


@dataclass(frozen=True, slots=True)
class Choice:
    """One of them."""

    name: str
    note: Line = field(default_factory=list)
    """What is known of it."""

    off: str = ""
    """Why it cannot be chosen; empty when it can."""


class ChoicePanel(Sifted[Choice]):
    """The names that have every word typed."""

    def __init__(self, title: str, enter: str, choices: Sequence[Choice]) -> None:
        super().__init__(id="choice")
        self.title, self.enter, self.all = title, enter, list(choices)
        self.search = Editor()

    @property
    def found(self) -> list[Choice]:
        """Those that match what was typed."""
        terms = self.search.text
        return [c for c in self.all if holds(c.name + " " + "".join(t for t, _ in c.note), terms)]

    def seek(self, edited: Editor) -> None:
        """Something else is typed."""
        self.search, self.at = edited, 0

    def head(self, cells: int) -> list[Line]:
        """The field that narrows."""
        del cells
        line: Line = [("/ ", "prompt"), *self.search.line()]
        return [line if self.search.text else [*line, ("type to narrow", "faint")], []]

    def item(self, index: int, cells: int) -> Line:
        """One name, and what is known of it."""
        choice = self.found[index]
        size = min(NAME_CELLS, cells // 2)
        tone = "faint" if choice.off else "title"
        note: Line = [(choice.off, "faint")] if choice.off else choice.note
        return row(([(middle(choice.name, size), tone)], size), (note, cells - size - 2))

    def nothing(self, cells: int) -> list[Line]:
        """Nothing matches."""
        del cells
        return [[("Nothing to choose from." if not self.all else "Nothing matches.", "dim")]]

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """What is asked."""
        del cells
        return self.title, [], hints([("enter", self.enter), ("esc", "cancel")])


class NamePanel(ChoicePanel):
    """What was typed may be chosen too."""

    @property
    def found(self) -> list[Choice]:
        """Those that match what was typed, and that itself."""
        typed = self.search.text.strip()
        matching = super().found
        if not typed or any(choice.name == typed for choice in matching):
            return matching
        return [*matching, Choice(typed, [("as it is typed", "dim")])]

    def nothing(self, cells: int) -> list[Line]:
        """Nothing is listed, and nothing typed yet."""
        del cells
        return [[("Type an alias, a name or an address, as ssh takes it.", "dim")]]


class Narrowed(Protocol):
    """A panel of names that what is typed narrows."""

    search: Editor

    def seek(self, edited: Editor) -> None:
        """Something else is typed."""

    def move(self, rows: int) -> None:
        """Another name."""


class PickDialog(Dialog[str | None]):
    """Answers with one name of a list; typing narrows it."""

    @property
    def list(self) -> Narrowed:
        """The one panel."""
        raise NotImplementedError

    def choose(self) -> None:
        """Answer with the name under the cursor, or say why it cannot be."""
        raise NotImplementedError

    @on(Panel.Opened)
    def open_clicked(self) -> None:
        """A double click chooses."""
        self.choose()

    def on_key(self, event: events.Key) -> None:
        """Choose, move, narrow."""
        event.stop()
        event.prevent_default()
        rows = {"down": 1, "up": -1, "pagedown": 8, "pageup": -8}.get(event.key)
        if event.key == "escape":
            self.dismiss(None)
        elif event.key == "enter":
            self.choose()
        elif rows is not None:
            self.list.move(rows)
        elif (edited := self.list.search.key(event.key, event.character)) is not None:
            self.list.seek(edited)
        self.repaint()


class ChoiceDialog(PickDialog):
    """Answers with the name chosen."""

    wanted = (92, 20)
    AUTO_FOCUS = "#choice"

    def __init__(
        self, title: str, enter: str, choices: Sequence[Choice], *, host: str = ""
    ) -> None:
        super().__init__()
        self.about = host
        self.panel = ChoicePanel(title, enter, choices)

    def make(self) -> Panel:
        """The one panel."""
        return self.panel

    def wanted_rows(self, cells: int) -> int:
        """All names, up to a height."""
        del cells
        return min(self.wanted[1], max(1, len(self.panel.all)) + 4)

    @property
    def list(self) -> ChoicePanel:
        """The one panel."""
        return self.panel

    def choose(self) -> None:
        """The one under the cursor, unless it is off."""
        found = self.panel.found
        if not found:
            return
        choice = found[self.panel.at]
        if choice.off:
            self.specctl.tell(choice.name, choice.off, severity="warning")
        else:
            self.dismiss(choice.name)


class NameDialog(ChoiceDialog):
    """Answers with a name of the list, or another one."""

    def __init__(
        self, title: str, enter: str, choices: Sequence[Choice], *, host: str = ""
    ) -> None:
        super().__init__(title, enter, choices, host=host)
        self.panel = NamePanel(title, enter, choices)

    def wanted_rows(self, cells: int) -> int:
        """With a row for what is typed."""
        return min(self.wanted[1], super().wanted_rows(cells) + 1)
