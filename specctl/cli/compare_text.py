"""A comparison of one launch each, as text on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write
from specctl.cli.table import table
from specctl.domain.comparison_rows import (
    CATEGORY_HEADERS,
    HEADERS,
    category_rows,
    comparison_rows,
    comparison_words,
)
from specctl.domain.training import with_label

if TYPE_CHECKING:
    from specctl.domain.comparison import Comparison


def write_comparison(found: Comparison) -> None:
    """Its arms, its categories where there are several, and what the tables do not say."""
    workload = with_label(found.workload, found.trained_on)
    write(style(f"{found.host}  {workload}  concurrency {found.concurrency}", "bold"))
    for line in table(HEADERS, comparison_rows(found), right=" ".join(HEADERS[1:])):
        write(line)
    rows = category_rows(found)
    if rows:
        write()
        for line in table(CATEGORY_HEADERS, rows, right=" ".join(CATEGORY_HEADERS[2:])):
            write(line)
    write()
    for words in comparison_words(found):
        write(words)
