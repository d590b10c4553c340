"""A screening in words and rows: a ranking, never a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.figures import UNKNOWN, fixed
from specctl.domain.training import warm_words
from specctl.domain.trial.screening_ranking import TOO_SLOW

if TYPE_CHECKING:
    from specctl.domain.trial.screening_plan import ScreeningPlan
    from specctl.domain.trial.screening_ranking import Ranked
    from specctl.domain.trial.screening_running import ScreeningStanding

RANKING_HEADERS = (
    "place", "profile", "launches", "times-faster", "behind-best", "tok/s", "accept-length",
    "steps", "what-became-of-it",
)  # fmt: skip
RANKING_RIGHT = "place launches times-faster behind-best tok/s accept-length steps"
NO_VERDICT = "a ranking from few launches, no verdict: the best of several looks better than it is"


def ranking_rows(standing: ScreeningStanding, survivor: str | None = None) -> list[tuple[str, ...]]:
    """A row for each arm; `survivor` is the one that went into the trial."""
    return [
        (
            str(place),
            one.profile,
            str(one.launches),
            "baseline" if one.is_baseline else fixed(one.ratio, 3, "x"),
            UNKNOWN if one.behind is None else f"{one.behind:.1%}",
            fixed(one.tokens_per_s, 1),
            fixed(one.accept_length, 2),
            UNKNOWN if one.steps is None else str(one.steps),
            _fate(one, standing, survivor),
        )
        for place, one in enumerate(standing.ranking, start=1)
    ]


def _fate(one: Ranked, standing: ScreeningStanding, survivor: str | None) -> str:
    if one.profile == survivor:
        return "tried against the baseline"
    if one.left_after is not None:
        why = "" if one.left_why == TOO_SLOW else f": {one.left_why}"
        return f"left after round {one.left_after}{why}"
    if one.is_baseline or not standing.rounds:
        return ""
    return "a candidate"


def outcome_words(standing: ScreeningStanding) -> str:
    """What it came to, from its launches alone."""
    if standing.ended:
        return standing.ended
    if not standing.rounds:
        return "no complete round"
    if not standing.candidates:
        return f"every candidate behind the baseline; the best: {standing.survivor}"
    return f"candidates: {', '.join(standing.candidates)}"


def screening_words(
    plan: ScreeningPlan, standing: ScreeningStanding, survivor: str | None = None
) -> list[str]:
    """What stands behind the ranking and what it does not say; the last line is the answer."""
    lines = [f"left out {one.profile}: {one.reason}" for one in plan.omitted]
    lines += [f"{words}, {count} of the launches not used" for words, count in standing.lost]
    if standing.spread is not None:
        lines.append(
            f"rounds: {standing.rounds} of at most {plan.rounds}; launches of one profile are "
            f"taken to vary by {standing.spread:.1%}"
        )
    if any(one.left_why == TOO_SLOW for one in standing.ranking):
        lines.append(f"who left after a round was {TOO_SLOW}")
    if survivor is not None and standing.survivor == survivor and _is_tied(standing, survivor):
        lines.append(f"{survivor} is taken because it makes the fewest steps of what is alike")
    lines.append(f"{outcome_words(standing)}{warm_words(plan.trained_on)} ({NO_VERDICT})")
    return lines


def _is_tied(standing: ScreeningStanding, survivor: str) -> bool:
    """Somebody faster was there, and could not be told from it."""
    return bool(standing.candidates) and standing.candidates[0] != survivor
