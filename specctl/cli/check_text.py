"""Findings as lines for people, and as a workflow's annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style
from specctl.domain.lint.finding import Severity
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specctl.domain.lint.finding import Finding

COLOURS = {
    Severity.ERROR: "red",
    Severity.REWRITE: "magenta",
    Severity.WARNING: "yellow",
    Severity.HINT: "dim",
}
ANNOTATIONS = {
    Severity.ERROR: "error",
    Severity.REWRITE: "warning",
    Severity.WARNING: "warning",
    Severity.HINT: "notice",
}
"""What GitHub calls them."""

_LEVEL_WIDTH = 7
_LINE_WIDTH = 4
_QUOTED = 100
_INDENT = " " * (_LINE_WIDTH + _LEVEL_WIDTH + 4)


def text_lines(findings: Iterable[Finding]) -> Iterator[str]:
    """Grouped by file; under each finding what to do, and the line of the source that says so."""
    file = None
    for finding in findings:
        if finding.file != file:
            if file is not None:
                yield ""
            file = finding.file
            yield style(clean(file) or "(no file)", "bold")
        yield from _finding_lines(finding)


def _finding_lines(finding: Finding) -> Iterator[str]:
    line = "" if finding.line is None else str(finding.line)
    level = style(f"{finding.severity:<{_LEVEL_WIDTH}}", COLOURS[finding.severity])
    words = f"{finding.key}: {finding.message}" if finding.key else finding.message
    if finding.profile and not finding.file.endswith(f"/{finding.profile}.toml"):
        words += f" ({finding.profile})"
    yield f"{line:>{_LINE_WIDTH}}  {level}  {clean(words)}"
    advice = clean(advice_of(finding))
    if advice:
        yield f"{_INDENT}{style('→', 'dim')} {advice}"
    if finding.place is not None:
        quoted = clean(finding.source_line[:_QUOTED])
        source = f"{finding.place}" + (f"  {quoted}" if quoted else "")
        yield f"{_INDENT}{style(source, 'dim')}"


def advice_of(finding: Finding) -> str:
    """What to do, with the closest known word where the advice does not name it."""
    if finding.nearest and finding.nearest not in finding.fix:
        return f"{finding.fix}; nearest: {finding.nearest}".removeprefix("; ")
    return finding.fix


def github_line(finding: Finding) -> str:
    """Format: GitHub Actions documentation, `Workflow commands`, with its escapes."""
    place = f"file={_property(finding.file)}"
    if finding.line is not None:
        place += f",line={finding.line}"
    title = ": ".join(part for part in (finding.key, finding.rule) if part and part != "file")
    if title:
        place += f",title={_property(title)}"
    advice = advice_of(finding)
    text = finding.message + (f". {advice[:1].upper()}{advice[1:]}" if advice else "")
    return f"::{ANNOTATIONS[finding.severity]} {place}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
