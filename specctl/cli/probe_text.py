"""Results of probes as text on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write
from specctl.cli.table import table
from specctl.domain.probe_rows import category_rows, position_rows, probe_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import ProbeResult

LABEL_CELLS = 15
VALUE_CELLS = 26


def write_result(result: ProbeResult) -> None:
    """Every figure, then categories and positions where there are several."""
    for row in probe_rows(result):
        note = style(row.note, "dim")
        write(f"{row.label:<{LABEL_CELLS}}{row.value + '  ':<{VALUE_CELLS}}{note}".rstrip())
    _write_table(("category", "requests", "tok/s", "accept-length"), category_rows(result))
    _write_table(("position", "accepted", "once-reached"), position_rows(result))
    for note in result.notes:
        write(f"- {note}")


def _write_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        return
    write()
    for line in table(heads, rows, right=" ".join(heads[1:])):
        write(line)
