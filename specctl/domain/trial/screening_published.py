"""A screening as it is printed: `specctl/screening/1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.comparison import Unasked
    from specctl.domain.trial.published import PublishedTrial
    from specctl.domain.trial.screening_plan import ScreeningPlan
    from specctl.domain.trial.screening_ranking import Ranked
    from specctl.domain.trial.screening_running import ScreeningStanding


@dataclass(frozen=True, slots=True)
class PublishedScreening:
    """Several profiles ranked by few launches, and the trial of the one that was left."""

    host: str
    plan: ScreeningPlan
    ranking: tuple[Ranked, ...]
    """The best first. Never a verdict: the best of several looks better than it is."""

    candidates: tuple[str, ...]
    """Still in it at the end, the best first."""

    survivor: str | None
    """Whom a trial is about, or would be; of what cannot be told apart the one with the fewest
    steps. None before a complete round."""

    rounds: int
    spread: float | None
    """Between launches of one profile, as a share; drawn towards 1.5 % where few are known."""

    lost: tuple[tuple[str, int], ...]
    """Launches that could not be used: reason and count."""

    trial_id: str | None
    """Of the run that confirms, with launches of its own; None where there was none."""

    trial: PublishedTrial | None
    """None where there was none, or where it is not at hand."""

    ended: str | None
    """Why there was no trial; None when there was one, or the screening is open."""

    is_open: bool
    """More launches would follow: `compare --resume`."""

    interrupted: bool = False
    differences: tuple[Unasked, ...] = ()
    """Resolved arguments in which arms differ from the baseline although no profile says so."""

    restored: tuple[str, ...] = ()


def publish_screening(
    plan: ScreeningPlan,
    standing: ScreeningStanding,
    *,
    trial_id: str | None = None,
    trial: PublishedTrial | None = None,
    ended: str = "",
    interrupted: bool = False,
    differences: tuple[Unasked, ...] = (),
    restored: tuple[str, ...] = (),
) -> PublishedScreening:
    """The printed form."""
    return PublishedScreening(
        host=plan.host,
        plan=plan,
        ranking=standing.ranking,
        candidates=standing.candidates,
        survivor=standing.survivor,
        rounds=standing.rounds,
        spread=standing.spread,
        lost=standing.lost,
        trial_id=trial_id,
        trial=trial,
        ended=ended or standing.ended or None,
        is_open=standing.next is not None,
        interrupted=interrupted,
        differences=differences,
        restored=restored,
    )
