"""A file of a tree with its line numbers, its code coloured, what was searched for marked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.tui.render.lines import Drawing, Line, clip, middle, picked
from specctl.tui.render.syntax import from_column, marked

if TYPE_CHECKING:
    from specctl.tui.render.syntax import Code

MOST_MATCHES = 10_000


@dataclass(frozen=True, slots=True)
class Search:
    """What is searched for in a file, and the lines that have it."""

    terms: str
    pattern: re.Pattern[str]
    lines: tuple[int, ...]
    """Counted from 0."""


def search(code: Code, terms: str) -> Search:
    """Every line of a file with `terms`: a regular expression, else the plain words.

    Capitals in it make capitals count.
    """
    flags = 0 if any(char.isupper() for char in terms) else re.IGNORECASE
    try:
        pattern = re.compile(terms, flags)
    except re.error:
        pattern = re.compile(re.escape(terms), flags)
    found = [i for i, line in enumerate(code.lines) if pattern.search(line)]
    return Search(terms, pattern, tuple(found[:MOST_MATCHES]))


def draw_code(
    code: Code, cells: int, rows: int, *, at: int, top: int, left: int, found: Search | None,
    digest: str = "", note: Line | None = None,
) -> Drawing:  # fmt: skip
    """The lines from `top` on, the line `at` being the cursor's."""
    digits = max(4, len(str(len(code.lines))))
    body: list[Line] = []
    for index in range(top, min(len(code.lines), top + rows)):
        line = code_line(code, index, digits, cells, left=left, found=found)
        body.append(picked(line, cells) if index == at else line)
    lines = len(code.lines)
    summary: Line = [(f"{lines:,}", "strong"), (" lines" if lines != 1 else " line", "dim")]
    if digest:
        summary += [("  ", ""), (f"sha {digest[:7]}", "dim")]
    if found is not None:
        summary = [*_found_words(found, at), ("  ", ""), *summary]
    cursor = at - top if top <= at < top + rows else None
    where: Line = [(f"line {at + 1:,}", "dim")]
    if note:
        where = [*where, ("  ", ""), *note]
    return Drawing(middle(code.name, max(12, cells - 26)), body, summary, where, cursor)


def _found_words(found: Search, at: int) -> Line:
    if not found.lines:
        return [("/" + found.terms, "prompt"), (" not found", "warn")]
    number = sum(line <= at for line in found.lines)
    return [("/" + found.terms, "prompt"), (f" {number or 1} of {len(found.lines)}", "text")]


def code_line(
    code: Code, index: int, digits: int, cells: int, *, left: int = 0, found: Search | None = None
) -> Line:
    """One line with its number."""
    spans = code.line(index)
    if found is not None and found.lines:
        text = code.lines[index]
        ranges = [m.span() for m in found.pattern.finditer(text) if m.end() > m.start()]
        spans = marked(spans, ranges, "warn-fill") if ranges else spans
    if left:
        spans = from_column(spans, left)
    number: Line = [(f"{index + 1:>{digits}}  ", "faint")]
    return [*number, *clip(spans, max(1, cells - digits - 2))]
