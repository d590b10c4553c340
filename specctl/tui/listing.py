"""A panel with a cursor over items: moved by keys, the wheel and clicks, kept in sight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from textual.message import Message

from specctl.tui.panel import Panel
from specctl.tui.render.lines import Drawing, Line, picked
from specctl.tui.render.listing import span_note, window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from specctl.tui.scene import Scene


Row = TypeVar("Row")

CLICK_S = 0.5
"""Longest time between pressing a mouse button and letting it go."""


class Listed(Panel):
    """One line an item; under the chosen one, while the panel has the focus, what more there is."""

    class Moved(Message):
        """The cursor came to another item."""

        def __init__(self, panel: Listed) -> None:
            super().__init__()
            self.panel = panel

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.at = 0
        self.top = 0
        self.terms = ""
        """What the items are filtered by."""

        self._owners: list[int | None] = []
        """The item that each row inside the frame belongs to."""

        self._aimed: list[int | None] | None = None
        """The same as it was when a click gave the focus, which unfolds the chosen item."""

    @property
    def keeps_cursor(self) -> bool:
        """The chosen item is marked without the focus too: other panels follow it."""
        return False

    def count(self) -> int:
        """How many items there are to choose from."""
        raise NotImplementedError

    def head(self, cells: int) -> list[Line]:
        """The rows before the first item."""
        del cells
        return []

    def item(self, index: int, cells: int) -> Line:
        """One item."""
        raise NotImplementedError

    def more(self, cells: int) -> list[Line]:
        """What is shown under the chosen item."""
        del cells
        return []

    def nothing(self, cells: int) -> list[Line]:
        """What is shown where there is no item."""
        del cells
        return []

    def frame(self, cells: int) -> tuple[str, Line, Line]:
        """Title, summary, and the note of the bottom edge."""
        raise NotImplementedError

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The items in sight."""
        del scene
        total = self.count()
        title, summary, note = self.frame(cells)
        head = self.head(cells)
        if not total:
            self._owners = []
            return Drawing(title, [*head, *self.nothing(cells)], summary, note)
        self.at = min(self.at, total - 1)
        marks = self.has_focus or self.keeps_cursor
        more = self.more(cells)[: max(0, rows // 2)] if self.has_focus else []
        room = max(1, rows - len(head) - len(more))
        self.top = window(self.at, self.top, room, total)
        self._owners = [None] * len(head)
        body = list(head)
        for index in range(self.top, min(total, self.top + room)):
            line = self.item(index, cells)
            body.append(picked(line, cells) if marks and index == self.at else line)
            self._owners.append(index)
            if index == self.at:
                body += more
                self._owners += [index] * len(more)
        where = span_note(self.top, min(room, total), total)
        if where and note:
            where = [*where, ("  ", "")]
        cursor = len(head) + self.at - self.top if marks else None
        return Drawing(title, body, summary, [*where, *note], cursor)

    def move(self, rows: int) -> None:
        """Put the cursor on another item."""
        self.choose(self.at + rows)

    def choose(self, index: int) -> None:
        """Put the cursor on the item `index`, or the nearest there is."""
        index = min(max(0, index), max(0, self.count() - 1))
        if index != self.at:
            self.at = index
            self.post_message(self.Moved(self))

    def on_focus(self) -> None:
        """A click that comes with it was aimed at the rows as they were."""
        self._aimed = list(self._owners) or None
        self.set_timer(CLICK_S, self._forget)

    def _forget(self) -> None:
        self._aimed = None

    def tell_hit(self, event: events.Click) -> bool:
        """A key that the click's own focus unfolded over an item was not meant."""
        aimed, row = self._aimed or [], event.y - 1
        was_item = 0 <= row < len(aimed) and aimed[row] is not None
        return not was_item and super().tell_hit(event)

    def pick(self, row: int) -> bool:
        """Put the cursor on the item that was clicked."""
        owners = self._owners if self._aimed is None else self._aimed
        self._aimed = None
        owner = owners[row] if 0 <= row < len(owners) else None
        if owner is not None:
            self.choose(owner)
        return owner is not None

    def narrow(self, terms: str) -> None:
        """Show only items that match, from the first on."""
        self.terms, self.at, self.top = terms, 0, 0


class Sifted(Listed, Generic[Row]):
    """What a filter left of a list; the cursor is marked without the focus too."""

    @property
    def found(self) -> Sequence[Row]:
        """The rows that pass."""
        raise NotImplementedError

    @property
    def chosen(self) -> Row | None:
        """The one under the cursor."""
        found = self.found
        return found[min(self.at, len(found) - 1)] if found else None

    @property
    def keeps_cursor(self) -> bool:
        """Other panels, or actions, follow it."""
        return True

    def count(self) -> int:
        """How many there are."""
        return len(self.found)
