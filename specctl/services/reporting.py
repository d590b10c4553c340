"""A trial's report written where the operator is, and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters.browser import show_page
from specctl.domain.errors import UsageError
from specctl.services.runs import gather, write_report

if TYPE_CHECKING:
    from specctl.adapters.ledger import Ledger


def report_file(run_id: str, folder: Path | None = None) -> Path:
    """Where the page of a trial is written: beside the operator, one file a trial."""
    return (folder or Path.cwd()) / f"trial-{run_id}.html"


def save_report(ledger: Ledger, run_id: str, now_s: float, folder: Path | None = None) -> Path:
    """Write a trial's page; raises UsageError for what is no trial, or cannot be written."""
    text = write_report([gather(ledger, run_id)], "html", now_s)
    path = report_file(run_id, folder)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(
            f"{path} cannot be written: {reason}",
            hint=f"specctl runs report {run_id} -o FILE writes it elsewhere.",
        ) from error
    return path


def show_report(path: Path) -> None:
    """Show a written page in the operator's browser."""
    show_page(path)
