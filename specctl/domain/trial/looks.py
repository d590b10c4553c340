"""One look at a trial: its interval, and the word that may be said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import exp, log, sqrt
from typing import TYPE_CHECKING

from specctl.domain.trial.design import EARLY_LAUNCHES, EARLY_RATIO, degrees_of_freedom
from specctl.domain.trial.distributions import NORMAL, t_quantile

if TYPE_CHECKING:
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.interval import Fit

FUTILE_FROM = 4
FUTILE_CHANCE = 0.10


class Word(Enum):
    """What a trial may say of an arm against its baseline."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_MATERIAL_DIFFERENCE = "no material difference"
    NOT_ENOUGH_EVIDENCE = "not enough evidence"


@dataclass(frozen=True, slots=True)
class Look:
    """The state of one analysis after a complete pair of launches."""

    launches: int
    """Per arm."""

    fit: Fit
    level: float
    low: float
    """Of the ratio, as `high`: how many times faster the arm is, at least and at most."""

    high: float
    word: Word | None
    """None: go on."""

    is_futile: bool = False
    """The rest of the plan would decide with a chance under 10 %."""


def take_look(fit: Fit, design: Design) -> Look | None:
    """The look that the design has after these launches; None where it has none."""
    launches = min(fit.launches)
    level = design.level(launches)
    if level is None:
        return None
    low, high = fit.interval(level)
    word = _word(fit, design, launches, low, high)
    is_futile = word is None and launches >= FUTILE_FROM and _chance(fit, design) < FUTILE_CHANCE
    if word is None and (launches >= design.most_launches or is_futile):
        word = Word.NOT_ENOUGH_EVIDENCE
    return Look(launches, fit, level, exp(low), exp(high), word, is_futile)


def _word(fit: Fit, design: Design, launches: int, low: float, high: float) -> Word | None:
    is_early = launches == EARLY_LAUNCHES and launches < design.first_look
    if is_early and abs(fit.theta) <= log(EARLY_RATIO):
        return None
    if not is_early and -design.log_margin < low and high < design.log_margin:
        return Word.NO_MATERIAL_DIFFERENCE
    if low > 0:
        return Word.FASTER
    return Word.SLOWER if high < 0 else None


def _chance(fit: Fit, design: Design) -> float:
    """That the last look decides, if the estimate and the spread are the truth."""
    now, last = min(fit.launches), design.most_launches
    level = design.level(last)
    if level is None or now >= last:
        return 0.0
    half = t_quantile(1 - level / 2, degrees_of_freedom(last)) * fit.spread * sqrt(2 / last)
    to_come = fit.spread * sqrt(2 * (1 / now - 1 / last))
    different = NORMAL.cdf((abs(fit.theta) - half) / to_come)
    room = design.log_margin - half
    if room <= 0:
        return different
    inside = NORMAL.cdf((room - fit.theta) / to_come) - NORMAL.cdf((-room - fit.theta) / to_come)
    return different + max(0.0, inside)
