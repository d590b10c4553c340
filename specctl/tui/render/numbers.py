"""Numbers as spans: the text of `domain.figures` with the token that says what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.figures import THREE_DIGITS, known
from specctl.tui.render.lines import UNKNOWN

if TYPE_CHECKING:
    from specctl.tui.render.lines import Line

ONE_SECOND = 0.9995


def milliseconds(seconds: float | None) -> Line:
    """A short time with its unit: `28.8 ms`, `412 ms`, `1.4 s`."""
    seconds = known(seconds)
    if seconds is None:
        return [UNKNOWN]
    if seconds >= ONE_SECOND:
        return [(f"{seconds:.1f}", "strong"), (" s", "dim")]
    value = seconds * 1000
    return [(f"{value:.0f}" if value >= THREE_DIGITS else f"{value:.1f}", "strong"), (" ms", "dim")]


def accept(value: float | None, even: float | None) -> Line:
    """`1.50 < 1.69`: the comparison sign carries the state, the colour repeats it."""
    value, even = known(value), known(even)
    if value is None:
        return [UNKNOWN]
    if even is None:
        return [(f"{value:.2f}", "strong")]
    if value >= even:
        return [(f"{value:.2f}", "strong"), (" > ", "ok"), (f"{even:.2f}", "ref")]
    return [(f"{value:.2f}", "warnb"), (" < ", "warnb"), (f"{even:.2f}", "ref")]


def number(text: str) -> tuple[str, str]:
    """A value's span: faint when it is unknown."""
    return UNKNOWN if text == UNKNOWN[0] else (text, "text")
