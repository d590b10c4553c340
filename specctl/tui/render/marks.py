"""A profile's text with what is wrong with it: a mark beside the line, the words under it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Finding, Severity
from specctl.tui.render.lines import Line, clip, middle, spread, width, wrap
from specctl.tui.render.profiles import MARKS, lint_counts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.tui.reading import ProfileSheet
    from specctl.tui.render.syntax import Code

NUMBER_CELLS = 6
MOST_LINES = 8


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of the text panel: a line of the file, or what is to say about the one above."""

    line: int | None = None
    """Counted from 0."""

    finding: Finding | None = None


def text_rows(lines: int, findings: Sequence[Finding], file: str) -> list[TextRow]:
    """What concerns no line of this file first; every other finding under its line."""
    here: dict[int, list[Finding]] = {}
    rows: list[TextRow] = []
    for finding in findings:
        at = finding.line if finding.file in {"", file} else None
        if at is None or not 1 <= at <= lines:
            rows.append(TextRow(finding=finding))
        else:
            here.setdefault(at - 1, []).append(finding)
    for index in range(lines):
        rows.append(TextRow(line=index))
        rows += [TextRow(finding=finding) for finding in here.get(index, ())]
    return rows


def text_line(
    item: TextRow, code: Code, worst: Mapping[int, Severity], file: str, cells: int, *, chosen: bool
) -> Line:
    """One row: number, mark, and the text; or the words under it."""
    if item.line is not None:
        mark, tone = MARKS[worst[item.line]] if item.line in worst else (" ", "")
        spans = clip(code.line(item.line), max(1, cells - NUMBER_CELLS - 2))
        return [(f"{item.line + 1:>{NUMBER_CELLS - 2}} ", "faint"), (mark + " ", tone), *spans]
    if item.finding is None:
        return []
    return _finding_line(item.finding, file, cells, chosen=chosen)


def _finding_line(finding: Finding, file: str, cells: int, *, chosen: bool) -> Line:
    mark, tone = MARKS[finding.severity]
    gutter = " " * (NUMBER_CELLS - 1)
    elsewhere = finding.file not in {"", file}
    head: Line = [(gutter + "└ ", tone)]
    if elsewhere or finding.line is None:
        head = [(gutter + mark + " ", tone)]
    if elsewhere:
        where = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        head.append((where + "  ", "accent"))
    right: Line = []
    room = cells - width(head)
    if finding.rule and len(finding.message) + len(finding.rule) + 2 <= room:
        right = [("  " + finding.rule, "accent" if chosen else "faint")]
    return spread([*head, (finding.message, tone)], right, cells)


def finding_more(finding: Finding, file: str, cells: int) -> list[Line]:
    """All its words where the line cut them, the fix, the rule, and the line of the source."""
    room = max(10, cells - NUMBER_CELLS - 3)
    parts: list[Line] = []
    lead = len(finding.file) + 8 if finding.file not in {"", file} else 0
    if len(finding.message) + NUMBER_CELLS + 1 + lead > cells:
        parts += [[(text, "text")] for text in wrap(finding.message, room)]
    parts += [[("fix  ", "key"), (text, "strong")] if i == 0 else [("     ", ""), (text, "strong")]
              for i, text in enumerate(wrap(finding.fix, room - 5))]  # fmt: skip
    if finding.nearest:
        parts.append([("nearest  ", "dim"), (finding.nearest, "strong")])
    rule = ", ".join(filter(None, (finding.severity.value, finding.rule, finding.versions)))
    parts += [[(text, "dim")] for text in wrap(rule, room)]
    if finding.place is not None:
        parts.append([(str(finding.place), "accent"), ("  enter", "key"), (" opens it", "dim")])
        if finding.source_line:
            parts.append([(middle(finding.source_line, room), "comment")])
    return [[(" " * (NUMBER_CELLS + 1), ""), *part] for part in parts[:MOST_LINES]]


def worst_by_line(rows: Sequence[TextRow]) -> dict[int, Severity]:
    """The mark of each line that has one."""
    order = list(Severity)
    out: dict[int, Severity] = {}
    at: int | None = None
    for item in rows:
        if item.line is not None:
            at = item.line
        elif at is not None and item.finding is not None:
            held = out.get(at, item.finding.severity)
            out[at] = min(held, item.finding.severity, key=order.index)
    return out


def text_summary(sheet: ProfileSheet) -> Line:
    """`✗1 ▲2 for SGLang 0.5.23`."""
    out = lint_counts(sheet.findings)
    words = f" for {sheet.against}" if sheet.against else " without a host's build"
    return [*out, (words, "dim")]
