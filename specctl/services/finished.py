"""Trials and screenings that are over: going on with one would only stop and start servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.runs import RunKind
from specctl.domain.trial.running import stand
from specctl.domain.trial.screening_running import stand_screening
from specctl.services.screening_keeping import read_screening
from specctl.services.trial import INTERRUPTED, read_trial

if TYPE_CHECKING:
    from specctl.adapters.ledger import Ledger
    from specctl.domain.runs import Run


def refuse_finished(ledger: Ledger, run_id: str) -> None:
    """Raises UsageError for a trial or screening that ended with nothing left to launch.

    One that was ended by force is not refused: what ran before it is put back by going on.
    """
    run = ledger.run(run_id)
    if _is_finished(ledger, run):
        raise UsageError(
            f"{run.kind.value} {run.id} is finished: {run.outcome}",
            hint=f"specctl runs show {run.id} shows it; specctl compare begins another.",
        )


def _is_finished(ledger: Ledger, run: Run) -> bool:
    if run.ended_s is None or run.outcome == INTERRUPTED:
        return False
    if run.kind is RunKind.TRIAL:
        return stand(*read_trial(ledger, run.id)).next is None
    kept, blocks = read_screening(ledger, run.id)
    if stand_screening(kept.plan, blocks).next is not None:
        return False
    follows = kept.trial
    return follows is None or (
        ledger.has_run(follows) and _is_finished(ledger, ledger.run(follows))
    )
