"""What was visited, in order: a view is the screens on the way to one, the fleet first; pure."""

from __future__ import annotations

from typing import Generic, TypeVar

Kind = TypeVar("Kind")
MOST = 16
"""Views that are kept; each keeps its screens as they were left."""


class Visits(Generic[Kind]):
    """Views as a browser keeps pages: going on from one that was gone back to forgets the rest."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._views: list[tuple[Kind, ...]] = []
        self._at = -1

    @property
    def screens(self) -> list[Kind]:
        """Every screen of any view, each once."""
        found: list[Kind] = []
        for view in self._views:
            found += [screen for screen in view if screen not in found]
        return found

    def note(self, view: tuple[Kind, ...]) -> None:
        """A view is in front; the one that was is not noted again."""
        if self._views and self._views[self._at] == view:
            return
        del self._views[self._at + 1 :]
        self._views.append(view)
        del self._views[: -self._most]
        self._at = len(self._views) - 1

    def step(self, by: int) -> tuple[Kind, ...] | None:
        """Go to the view before (-1) or after (1) the one in front; None where there is none."""
        if not 0 <= self._at + by < len(self._views):
            return None
        self._at += by
        return self._views[self._at]
