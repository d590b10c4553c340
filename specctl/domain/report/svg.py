"""Plots as SVG text: a frame with ticks, and marks in data coordinates. Nothing is random."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 16, 44
TICKS = 6
SMALLEST_SPAN = 1e-9


@dataclass(frozen=True, slots=True)
class Axis:
    """One direction of a plot: from `low` to `high`."""

    name: str
    low: float
    high: float
    has_ticks: bool = True
    """False where places along it are names, not numbers."""

    @classmethod
    def around(cls, name: str, values: Iterable[float], *, margin: float = 0.08) -> Axis:
        """Wide enough for every finite value."""
        known = [value for value in values if isfinite(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        room = max((high - low) * margin, abs(high) * 0.02, SMALLEST_SPAN)
        return cls(name, low - room, high + room)

    def share(self, value: float) -> float:
        """Where `value` lies between the ends, 0 to 1 inside."""
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> tuple[float, ...]:
        """Round values inside, about six; none where it has none."""
        if not self.has_ticks:
            return ()
        step = _round_step((self.high - self.low) / TICKS)
        first, last = ceil(self.low / step), floor(self.high / step)
        return tuple(round(n * step, 12) for n in range(first, last + 1))


def _round_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten."""
    unit = 10.0 ** floor(log10(rough))
    return float(next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough))


@dataclass(slots=True)
class Plot:
    """A frame that marks are added to."""

    title: str
    x: Axis
    y: Axis
    width: int = WIDTH
    height: int = HEIGHT
    marks: list[str] = field(default_factory=list)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Data to pixels."""
        across, up = self.x.share(x), self.y.share(y)
        inner_w, inner_h = self.width - LEFT - RIGHT, self.height - TOP - BOTTOM
        return round(LEFT + across * inner_w, 1), round(TOP + (1 - up) * inner_h, 1)

    def line(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """Through data points; `kind` is a class of the style sheet."""
        path = " ".join(f"{px},{py}" for px, py in (self.at(*point) for point in points))
        self.marks.append(f'<polyline class="{kind}" points="{path}"/>')

    def point(self, x: float, y: float, kind: str, words: str, *, radius: float = 5.0) -> None:
        """A dot that says `words` on hover."""
        px, py = self.at(x, y)
        self.marks.append(
            f'<circle class="{kind}" cx="{px}" cy="{py}" r="{radius:g}">'
            f"<title>{escape(words)}</title></circle>"
        )

    def box(
        self, low: tuple[float, float], high: tuple[float, float], kind: str, words: str
    ) -> None:
        """A rectangle between two data points."""
        (x0, y0), (x1, y1) = self.at(*low), self.at(*high)
        left, top, wide, tall = min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)
        self.marks.append(
            f'<rect class="{kind}" x="{left:g}" y="{top:g}" width="{wide:.1f}" '
            f'height="{tall:.1f}"><title>{escape(words)}</title></rect>'
        )

    def text(self, x: float, y: float, words: str, kind: str = "note") -> None:
        """Words that begin at a data point."""
        px, py = self.at(x, y)
        self.marks.append(f'<text class="{kind}" x="{px}" y="{py}">{escape(words)}</text>')

    def render(self) -> str:
        """The SVG element."""
        frame = [self._x_tick(value) for value in self.x.ticks()]
        frame += [self._y_tick(value) for value in self.y.ticks()]
        middle = (LEFT + self.width - RIGHT) / 2
        names = (
            f'<text class="axis" x="{middle:g}" y="{self.height - 6}">{escape(self.x.name)}</text>'
            f'<text class="axis up" transform="translate(14 {self.height / 2:g}) rotate(-90)">'
            f"{escape(self.y.name)}</text>"
        )
        clip = f"c{hash_of(self.title):x}"
        wide, tall = self.width - LEFT - RIGHT, self.height - TOP - BOTTOM
        area = f'<rect x="{LEFT}" y="{TOP}" width="{wide}" height="{tall}"/>'
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'aria-label="{escape(self.title)}"><clipPath id="{clip}">{area}</clipPath>'
            f"{''.join(frame)}{names}"
            f'<g clip-path="url(#{clip})">{"".join(self.marks)}</g></svg>'
        )

    def _x_tick(self, value: float) -> str:
        px, bottom = self.at(value, self.y.low)
        return (
            f'<line class="grid" x1="{px}" y1="{TOP}" x2="{px}" y2="{bottom}"/>'
            f'<text class="tick" x="{px}" y="{bottom + 16:g}">{_number(value)}</text>'
        )

    def _y_tick(self, value: float) -> str:
        left, py = self.at(self.x.low, value)
        return (
            f'<line class="grid" x1="{left}" y1="{py}" x2="{self.width - RIGHT}" y2="{py}"/>'
            f'<text class="tick left" x="{left - 6:g}" y="{py + 4:g}">{_number(value)}</text>'
        )


def hash_of(text: str) -> int:
    """The same number for the same text in every process."""
    found = 2166136261
    for byte in text.encode("utf-8", "replace"):
        found = (found ^ byte) * 16777619 % 2**32
    return found


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:g}"  # noqa: PLR2004
