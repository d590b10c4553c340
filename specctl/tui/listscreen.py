"""A screen about one list that can be filtered; its other panels follow the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from specctl.tui.asking import AskingScreen, Question
from specctl.tui.panel import Panel

if TYPE_CHECKING:
    from specctl.tui.listing import Listed


class ListScreen(AskingScreen):
    """Subclasses name the list, and what follows it."""

    def __init__(self) -> None:
        super().__init__()
        self._shape: object = None

    @property
    def main(self) -> Listed:
        """The list."""
        raise NotImplementedError

    def shape(self) -> object:
        """What the places of the panels go by."""
        return self.main.count()

    def narrowed(self) -> None:
        """The list was filtered otherwise: what follows it has to look again."""

    def do_row_open(self) -> None:
        """Open what is chosen."""
        raise NotImplementedError

    def repaint(self) -> None:
        """The list takes the rows it needs."""
        shape = self.shape()
        if shape != self._shape:
            self._shape = shape
            self.place()
        super().repaint()

    @on(Panel.Opened)
    def open_clicked(self) -> None:
        """A double click opens."""
        self.do_row_open()

    def do_filter_open(self) -> None:
        """Filter the list, as it is typed."""

        def edited(text: str) -> None:
            self.main.narrow(text)
            self.narrowed()

        def answered(text: str | None) -> None:
            if text is None:
                edited("")
            self.main.focus()

        question = Question(
            "/", edited, answered, "keeps it", lambda: f"{self.main.count():,} match"
        )
        self.ask(question, self.main.terms)

    def do_go_back(self) -> None:
        """Clear the filter, then the zoom, then leave."""
        if self.main.terms:
            self.main.narrow("")
            self.narrowed()
            self.repaint()
        else:
            super().do_go_back()
