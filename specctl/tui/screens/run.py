"""One run of the ledger, of any kind: everything that was kept of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.run_sheet import RunSheet
from specctl.tui.render.run import run_lines
from specctl.tui.screens.reading import ReadingDialog, ReadPanel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.domain.runs import RunBrief


class RunDialog(ReadingDialog[RunSheet]):
    """Reads a run, then shows it."""

    def __init__(self, entry: RunBrief, read: Callable[[], Awaitable[RunSheet]]) -> None:
        title = f"{entry.kind.value.capitalize()} {entry.id} on {entry.where}"
        panel = ReadPanel(title, "Reading the ledger", run_lines, id="run")
        super().__init__(panel, read, "the run", host=entry.host or "")
