"""Screenings in the ledger: begun, ended, read again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import RefusedError
from specctl.domain.runs import Run, RunKind
from specctl.domain.trial.screening_json import (
    KeptScreening,
    screening_block_of,
    screening_json,
    screening_of,
)
from specctl.domain.trial.screening_plan import ScreeningBlock, is_usable
from specctl.domain.trial.screening_running import stand_screening
from specctl.domain.trial.screening_words import outcome_words
from specctl.services.trial import INTERRUPTED, PAUSE_MOST_S

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.ledger import Ledger
    from specctl.domain.runs import Provenance
    from specctl.domain.trial.screening_plan import ScreeningPlan
    from specctl.services.screening import ScreeningOutcome


def entry_of(plan: ScreeningPlan, provenance: Provenance, clock: Clock) -> Run:
    """The run, as it begins."""
    return Run(
        id=plan.id,
        kind=RunKind.SCREENING,
        host=plan.host,
        profiles=plan.arms,
        began_s=clock.now(),
        ended_s=None,
        outcome="",
        provenance=provenance,
        document=screening_json(KeptScreening(plan)),
    )


def keep_screening(
    ledger: Ledger,
    outcome: ScreeningOutcome,
    kept: KeptScreening,
    provenance: Provenance,
    clock: Clock,
) -> None:
    """Say how the rounds ended, and which trial follows."""
    words = INTERRUPTED if outcome.is_interrupted else outcome_words(outcome.standing)
    ledger.end(
        kept.plan.id,
        ended_s=clock.now(),
        outcome=words,
        document=screening_json(kept),
        provenance=provenance,
    )


def read_screening(ledger: Ledger, run_id: str) -> tuple[KeptScreening, tuple[ScreeningBlock, ...]]:
    """A screening as the ledger has it; raises UsageError when it is none."""
    run = ledger.run(run_id)
    if run.kind is not RunKind.SCREENING:
        raise RefusedError(f"run {run.id} is a {run.kind.value}, not a screening")
    return screening_of(run.document), tuple(map(screening_block_of, ledger.blocks(run.id)))


def made_launches(ledger: Ledger, plan: ScreeningPlan, now_s: float) -> tuple[ScreeningBlock, ...]:
    """Launches of it in the ledger that it goes on from."""
    if not ledger.has_run(plan.id):
        return ()
    return resumable_screening(plan, read_screening(ledger, plan.id)[1], now_s)


def resumable_screening(
    plan: ScreeningPlan, blocks: tuple[ScreeningBlock, ...], now_s: float
) -> tuple[ScreeningBlock, ...]:
    """The launches it goes on from: an open round that is over an hour old is redone whole."""
    following = stand_screening(plan, blocks).next
    if following is None:
        return blocks
    open_round = [b for b in blocks if b.round == following.round and is_usable(plan, b)]
    if not open_round or now_s - max(b.ended_s for b in open_round) <= PAUSE_MOST_S:
        return blocks
    return tuple(
        replace(block, result=None, failure="the screening paused for over an hour")
        if block in open_round
        else block
        for block in blocks
    )
