"""What a start that ran out of memory means together with earlier ones of the same profile."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.adapters.ledger import Ledger
from specctl.domain.errors import UsageError
from specctl.domain.runs import RunKind
from specctl.facts.memory_failure import memory_dead_end

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from specctl.domain.runs import Run
    from specctl.services.outcome import Outcome

MOST_LOOKED_AT = 20


def with_earlier_starts(
    outcome: Outcome, ledger: Path, profile: str, version: str | None
) -> Outcome:
    """The outcome, its next step another one where an earlier start met the opposite wall.

    Starts count back to the last that succeeded. Without a ledger that can be read there are none.
    """
    cause = outcome.cause
    if outcome.succeeded or cause is None:
        return outcome
    for words, kind in _failures(ledger, outcome.host, profile):
        advice = memory_dead_end((cause.kind, kind), version)
        if advice is not None:
            return replace(
                outcome,
                hint=advice,
                cause=replace(cause, next_step=advice),
                notes=(
                    *outcome.notes,
                    f"an earlier start of {profile} failed the other way: {words}",
                ),
            )
    return outcome


def _failures(path: Path, host: str, profile: str) -> Iterator[tuple[str, str]]:
    """Words and kind of cause of starts since one succeeded, the newest first."""
    if not path.exists():
        return
    try:
        with closing(Ledger(path)) as ledger:
            runs = ledger.runs(host=host, kind=RunKind.LAUNCH, profile=profile, most=MOST_LOOKED_AT)
    except UsageError:
        return  # what cannot be read is said where this start is kept
    for run in runs:
        if run.document.get("succeeded") is True:
            return
        yield from _cause(run)


def _cause(run: Run) -> Iterator[tuple[str, str]]:
    cause = run.document.get("cause")
    if isinstance(cause, dict) and isinstance(cause.get("kind"), str):
        yield run.outcome or str(cause.get("summary")), cause["kind"]
