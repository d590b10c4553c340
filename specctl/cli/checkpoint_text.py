"""A checked draft as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write
from specctl.domain.checkpoint.memory import size_words
from specctl.domain.checkpoint.values import Severity

if TYPE_CHECKING:
    from specctl.domain.checkpoint.report import CheckpointReport
    from specctl.domain.checkpoint.values import Finding

COLOURS = {
    Severity.PASS: "green",
    Severity.HINT: "cyan",
    Severity.WARNING: "yellow",
    Severity.ERROR: "red",
}
WIDTH, KEY_WIDTH = 7, 16


def write_report(found: CheckpointReport) -> None:
    """The pair, a row per finding with what it means and what to do, and what was read."""
    algorithm = found.algorithm or "no algorithm known"
    write(f"{style(found.host, 'bold')}  {found.draft.name} for {found.target.name}, {algorithm}")
    for finding in found.findings:
        _write_finding(finding)
    write(f"  {style(_read_words(found), 'dim')}")


def _write_finding(finding: Finding) -> None:
    level = style(f"{finding.severity:<{WIDTH}}", COLOURS[finding.severity])
    write(f"  {level}  {finding.key:<{KEY_WIDTH}} {finding.words}")
    margin = " " * (WIDTH + KEY_WIDTH + 5)
    if finding.means:
        write(f"{margin}{finding.means}")
    if finding.next_step:
        write(f"{margin}{style('→', 'dim')} {finding.next_step}")


def _read_words(found: CheckpointReport) -> str:
    words = f"read {_size(found.bytes_read)}"
    if found.table_bytes:
        words += f" and {_size(found.table_bytes)} of d2t"
    if found.hashed_bytes:
        words += f", compared {size_words(found.hashed_bytes)} of vocabulary files on the host"
    return f"{words}; {found.elapsed_s:.2f} s; no weights"


def _size(size: int) -> str:
    return f"{size / 1024:,.1f} KiB"
