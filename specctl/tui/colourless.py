"""Lines as a terminal gets them that is to show no colours: NO_COLOR, https://no-color.org."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.filter import LineFilter, Monochrome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.color import Color


class Colourless(LineFilter):
    """Leaves bold, dim, italic, underlined, struck and reversed text, and no colour."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments without the colours that Textual gives every cell."""
        del background
        return [
            Segment(text, style.without_color if style else style, control)
            for text, style, control in segments
        ]


COLOURLESS = Colourless()
"""The one of them: what was made of a line by it is kept for it."""


def filters(known: Sequence[LineFilter], *, has_colour: bool) -> Sequence[LineFilter]:
    """What lines pass; the app, not Textual's own look at NO_COLOR, says whether in colour."""
    if not has_colour:
        return [COLOURLESS]
    return [found for found in known if not isinstance(found, Monochrome)]
