"""A trial as it is printed: `specctl/trial/1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.comparison import Unasked
    from specctl.domain.trial.running import TrialPlan
    from specctl.domain.trial.summary import ConcurrencySummary, TrialSummary


@dataclass(frozen=True, slots=True)
class PublishedTrial:
    """A trial: its plan, what its launches say, and what became of the host."""

    host: str
    plan: TrialPlan
    verdict: str | None
    """Of the first concurrency; None while the trial is open, and for one launch each."""

    concurrencies: tuple[ConcurrencySummary, ...]
    """The first is the one that the verdict is about."""

    lost: tuple[tuple[str, int], ...]
    """Launches that could not be used: reason and count."""

    ended: str | None
    """Why it ended before its plan; None when it did not."""

    is_open: bool
    """More launches would follow: `compare --resume`."""

    interrupted: bool = False
    differences: tuple[Unasked, ...] = ()
    """Resolved arguments in which the arms differ although no profile says so."""

    restored: tuple[str, ...] = ()
    """What ran before and what became of it, in words."""


def publish(
    summary: TrialSummary,
    *,
    verdict: str | None,
    ended: str = "",
    interrupted: bool = False,
    differences: tuple[Unasked, ...] = (),
    restored: tuple[str, ...] = (),
) -> PublishedTrial:
    """The printed form of a summary."""
    return PublishedTrial(
        host=summary.plan.host,
        plan=summary.plan,
        verdict=verdict,
        concurrencies=summary.concurrencies,
        lost=summary.lost,
        ended=ended or summary.ended or None,
        is_open=summary.is_open,
        interrupted=interrupted,
        differences=differences,
        restored=restored,
    )
