"""Lines typed before, gone through from the newest; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Recall:
    """Where somebody is in the lines typed before; each line stands once, at its newest place."""

    def __init__(self, lines: Sequence[str]) -> None:
        """`lines` from the oldest."""
        self._lines = list(dict.fromkeys(reversed(lines)))
        self._found: list[str] = []
        self._typed = ""
        self._at: int | None = None

    @property
    def is_on(self) -> bool:
        """What stands in the line was recalled, and nothing was typed since."""
        return self._at is not None

    def stop(self) -> None:
        """Something was typed."""
        self._at = None

    def older(self, typed: str) -> str | None:
        """The next older line that has what was typed in it; None when there is none."""
        if self._at is None:
            self._typed = typed
            self._found = [line for line in self._lines if typed in line and line != typed]
        after = -1 if self._at is None else self._at
        if after + 1 >= len(self._found):
            return None
        self._at = after + 1
        return self._found[self._at]

    def newer(self) -> str | None:
        """The next newer one; after the newest what was typed, and it is off; None when off."""
        if self._at is None:
            return None
        if self._at == 0:
            self._at = None
            return self._typed
        self._at -= 1
        return self._found[self._at]
