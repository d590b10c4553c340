"""The ledger's file opened to be read only: nothing is made, migrated or waited for long."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from specctl.adapters import paths

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def reading_ledger(wait_s: float) -> Iterator[sqlite3.Connection | None]:
    """None where there is none; sqlite3.Error for one that cannot be read, or is busy so long."""
    file = paths.ledger_file()
    if not file.exists():
        yield None
        return
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=wait_s)) as ledger:
        yield ledger
