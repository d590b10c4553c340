"""The one kind of widget: lines of spans, built by a pure function and painted when they differ."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, cast

from rich.segment import Segment
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from specctl.tui.bridge import TICK_S
from specctl.tui.pressing import named
from specctl.tui.render.chrome import replayed, simulated
from specctl.tui.render.frames import Kept, framed
from specctl.tui.render.glyphs import ascii_line
from specctl.tui.render.hits import ACTION, hit
from specctl.tui.render.lines import Drawing, Line, fit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.style import Style
    from textual import events
    from textual.color import Color
    from textual.filter import LineFilter

    from specctl.domain.events import Event
    from specctl.services.outcome import Outcome
    from specctl.tui.palette import Palette
    from specctl.tui.scene import Scene

    Kinds = frozenset[type[Event]]


class Shell(Protocol):
    """What panels need of the app: no panel knows the screens, or another panel."""

    theme: str
    scene: Scene

    @property
    def palette(self) -> Palette:
        """Styles of the present theme."""

    @property
    def is_ascii(self) -> bool:
        """Marks are drawn with ASCII alone."""

    @property
    def outcomes(self) -> Mapping[str, Outcome]:
        """How plans ended, by plan id."""


@dataclass(slots=True)
class Look:
    """How a widget's lines become strips, and those that have: by row, with their line."""

    key: tuple[object, ...]
    base: Style
    background: Color
    filters: tuple[LineFilter, ...]
    styles: dict[str, Style] = field(default_factory=dict)
    strips: dict[int, tuple[Line | None, Strip]] = field(default_factory=dict)


class Painted(Widget):
    """Draws a list of lines, built once for a size and kept until it is asked to repaint."""

    hears: Kinds | None = None
    """The numbers that it shows; None for any. Clocks and ages move on once a second anyway."""

    class Hit(Message):
        """A key or a button that is written on it was clicked."""

        def __init__(self, written: str, *, by: Painted) -> None:
            super().__init__()
            self.written, self.by = written, by

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._chain = 0
        self._built_at_s = float("-inf")
        self._painted: list[Line] | None = None
        self._painted_for = (0, 0)
        self._look: Look | None = None

    @property
    def shell(self) -> Shell:
        """The app, as panels know it."""
        return cast("Shell", self.app)

    @property
    def scene(self) -> Scene:
        """What this frame is drawn from."""
        return self.shell.scene

    def build(self, cells: int, rows: int) -> list[Line]:
        """The lines for a size, each exactly `cells` wide."""
        raise NotImplementedError

    def is_touched(self, heard: Kinds) -> bool:
        """It shows some of the numbers that were heard of, or it is a while since it was built."""
        if self.hears is None or self.hears & heard:
            return True
        return time.monotonic() - self._built_at_s >= TICK_S

    def repaint(self) -> None:
        """Build again, and have the lines that differ painted."""
        self._built_at_s = time.monotonic()
        cells, rows = self.outer_size
        if not self.display or not self.is_mounted or cells == 0 or rows == 0:
            return
        lines = self._built(cells, rows)
        before, self._painted = self._painted, lines
        if before is None or self._painted_for != (cells, rows) or len(before) != len(lines):
            self._painted_for = (cells, rows)
            self.refresh()
            return
        changed: list[int] = []
        for y, old in enumerate(before):
            new = lines[y]
            if old is new or old == new:
                lines[y] = old
            else:
                changed.append(y)
        if len(changed) > rows // 2:
            self.refresh()
        elif changed:
            self.refresh(*[Region(0, y, cells, 1) for y in changed])

    def _built(self, cells: int, rows: int) -> list[Line]:
        lines = self.build(cells, rows)[:rows]
        return [fit(ascii_line(line), cells) for line in lines] if self.shell.is_ascii else lines

    def is_own(self, event: events.Click) -> bool:
        """All clicks of a double click came here: the first may have opened what is here."""
        self._chain = event.chain if event.chain in {1, self._chain + 1} else 0
        return self._chain > 0

    def tell_hit(self, event: events.Click) -> bool:
        """Whether a key or a button was clicked, which the screen is told of."""
        lines = self.build(*self.outer_size)
        written = hit(lines[event.y], event.x) if event.y < len(lines) else ""
        is_hit = written == ACTION or bool(named(written))
        if is_hit:
            self.post_message(self.Hit(written, by=self))
        return is_hit

    def on_click(self, event: events.Click) -> None:
        """A click on a key presses it."""
        if self.is_own(event):
            self.tell_hit(event)

    def render_lines(self, crop: Region) -> list[Strip]:
        """What Textual puts on the screen: no frame, padding or opacity of its own is added.

        A line keeps its strip, and what was made of that on the way to the terminal.
        """
        cells, rows = self.outer_size
        if self._painted is None or self._painted_for != (cells, rows):
            self._painted, self._painted_for = self._built(cells, rows), (cells, rows)
        look = self._worn()
        strips = [self._strip(y, cells, look) for y in crop.line_range]
        if crop.column_span != (0, cells):
            return [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """One of them."""
        return self.render_lines(Region(0, y, self.size.width, 1))[0]

    def _strip(self, y: int, cells: int, look: Look) -> Strip:
        """The strip of a line, as it was while the line and the look stay the same."""
        lines = self._painted or []
        line = lines[y] if y < len(lines) else None
        known = look.strips.get(y)
        if known is not None and known[0] is line:
            return known[1]
        strip = Strip(self._segments(line or [(" " * cells, "")], look), cells)
        look.strips[y] = line, strip
        return strip

    def _segments(self, line: Line, look: Look) -> list[Segment]:
        known = look.styles.get
        return [Segment(text, known(token) or self._style(token, look)) for text, token in line]

    def _style(self, token: str, look: Look) -> Style:
        """Of a token on this widget, after the filters of the terminal."""
        style = look.base + self.shell.palette(token) if token else look.base
        segments = [Segment(" ", style)]
        for each in look.filters:
            segments = each.apply(segments, look.background)
        style = look.styles[token] = segments[0].style or style
        return style

    def notify_style_update(self) -> None:
        """Textual restyled it, or what it lies on: how it looks is found out again."""
        self._look = None
        super().notify_style_update()

    def _worn(self) -> Look:
        """How it looks now; what was made with another look is dropped."""
        key = (self.shell.theme, self.outer_size)
        if self._look is None or self._look.key != key:
            filters = tuple(self.get_line_filters())
            self._look = Look(key, self.rich_style, self.background_colors[1], filters)
        return self._look


def repaint_touched(widgets: Iterable[Painted], heard: Kinds) -> None:
    """Have those repainted that show some of the numbers `heard`."""
    for widget in widgets:
        if widget.is_touched(heard):
            widget.repaint()


class Bar(Painted):
    """One line at the top or the bottom."""

    hears: Kinds | None = frozenset()

    def draw(self, cells: int) -> Line:
        """The line."""
        raise NotImplementedError

    def build(self, cells: int, rows: int) -> list[Line]:
        """One line, whatever the height."""
        del rows
        return [fit(self.draw(cells), cells)]


class Panel(Painted, can_focus=True):
    """A frame with a drawing in it; it can be focused, and moved about in."""

    number = ""

    class Opened(Message):
        """The row under the cursor was opened with a double click."""

    class Headed(Message):
        """The head of a column was clicked."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._kept = Kept()
        self.rule = False
        """The frame is one rule: rows are scarce."""

        self.tabs: Line = []
        """Other panels of the same slot, named in the top edge."""

        self._was_picked = False
        """The last click chose something, which another one opens."""

        self.about = ""
        """The host of a dialog, whose own edge says what the header under it says of the host."""

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """What the panel shows, for the room inside its frame."""
        raise NotImplementedError

    def build(self, cells: int, rows: int) -> list[Line]:
        """The drawing in its frame."""
        sides, edges = (2, 1) if self.rule else (4, 2)
        drawing = self.draw(self.scene, max(1, cells - sides), max(1, rows - edges))
        badge = replayed(self.scene) if self.has_class("dialog") else []
        before = [*badge, *simulated(self.scene, self.about), *self.tabs]
        if before:
            gap: Line = [("  ", "")] if drawing.summary else []
            drawing = replace(drawing, summary=[*before, *gap, *drawing.summary])
        return framed(
            drawing, cells, rows, number=self.number, has_focus=self.has_focus, rule=self.rule,
            is_heavy=self.has_class("dialog") and not self.shell.palette.has_colour,
            kept=self._kept,
        )  # fmt: skip

    @property
    def inner_rows(self) -> int:
        """Rows inside the frame."""
        return max(1, self.size.height - (1 if self.rule else 2))

    def move(self, rows: int) -> None:
        """Move the cursor or scroll by `rows`; large numbers go to the end."""
        del rows

    def pick(self, row: int) -> bool:
        """The row `row` inside the frame was clicked; false when there is nothing to choose."""
        return 0 <= row < self.inner_rows

    def pick_head(self, row: int, cell: int, cells: int) -> bool:
        """The cell of a row, of so many, was clicked; true when a head of a column took it."""
        del row, cell, cells
        return False

    def watch_has_focus(self, has_focus: bool) -> None:  # noqa: FBT001  Textual's signature
        """The frame and the number show it; handlers of the event come before it holds."""
        super().watch_has_focus(has_focus)
        self.repaint()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """The wheel scrolls."""
        event.stop()
        self.move(3)
        self.repaint()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """The wheel scrolls."""
        event.stop()
        self.move(-3)
        self.repaint()

    def on_click(self, event: events.Click) -> None:
        """A click selects or presses what is written there, a double click opens."""
        event.prevent_default()
        if not self.is_own(event):
            return
        if event.chain == 2 and self._was_picked:  # noqa: PLR2004
            self.post_message(self.Opened())
            return
        edge, self._was_picked = 1 if self.rule else 2, False
        if self.pick_head(event.y - 1, event.x - edge, self.size.width - 2 * edge):
            self.post_message(self.Headed())
        elif not self.tell_hit(event):
            self._was_picked = self.pick(event.y - 1)
        self.repaint()


class Scrolled(Panel):
    """A panel whose body may be longer than it is high."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.top = 0

    def longest(self) -> int:
        """Rows of everything there is to scroll through."""
        raise NotImplementedError

    def move(self, rows: int) -> None:
        """Scroll, as far as there is something to see."""
        self.top = min(max(0, self.top + rows), max(0, self.longest() - self.inner_rows + 1))
