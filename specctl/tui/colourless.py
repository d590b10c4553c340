"""Lines as a terminal gets them that is to show no colours: NO_COLOR, https://no-color.org."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.filter import LineFilter, Monochrome
from textual.renderables.background_screen import BackgroundScreen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
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


DIMMED = Style(dim=True)


class Behind(BackgroundScreen):
    """The screen behind a dialog where no tint can say so: all of it is dim, nothing stands out."""

    @classmethod
    def process_segments(cls, segments: Iterable[Segment], color: Color) -> Iterable[Segment]:
        """The text of the segments, dim."""
        del color
        return (
            segment if segment.control else Segment(segment.text, DIMMED) for segment in segments
        )


def behind(drawn: RenderableType) -> RenderableType:
    """What Textual draws under a dialog, without its tint; a screen that is not dimmed stays."""
    if isinstance(drawn, BackgroundScreen) and drawn.color.a > 0:
        return Behind(drawn.screen, drawn.color)
    return drawn


def filters(known: Sequence[LineFilter], *, has_colour: bool) -> Sequence[LineFilter]:
    """What lines pass; the app, not Textual's own look at NO_COLOR, says whether in colour."""
    if not has_colour:
        return [COLOURLESS]
    return [found for found in known if not isinstance(found, Monochrome)]
