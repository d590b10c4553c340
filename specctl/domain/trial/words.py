"""A verdict in words: the number first, then what limits it."""

from __future__ import annotations

from math import exp, log1p, sqrt
from typing import TYPE_CHECKING

from specctl.domain.trial.distributions import clopper_pearson
from specctl.domain.trial.looks import Word
from specctl.domain.trial.traffic import extend_to_traffic, prompts_for

if TYPE_CHECKING:
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.interval import Fit
    from specctl.domain.trial.looks import Look
    from specctl.domain.trial.verdict import Verdict

ONE_LAUNCH = "one launch each: a number, not a verdict; launches of the same profile differ"
NO_LAUNCH = "no launch could be used: nothing was measured that could be compared"
TWO_LAUNCHES_DIFFER = 1.96
UNSEEN = 0.05
TRAFFIC_WITHIN = 0.05
"""How well the ratio of traffic is to be known, where prompts are counted for it."""


def say_verdict(verdict: Verdict, design: Design, launches: tuple[int, int]) -> str:
    """The sentence about these prompts; `launches` of the baseline and the profile were used."""
    look = verdict.clean.look
    if verdict.word is None:
        return _too_few(verdict, design, launches) if look is None else _so_far(look)
    if look is None or (verdict.is_contradicted and verdict.clean.left_out):
        return f"not enough evidence: {_both_analyses(verdict)}"
    each = f"{look.launches} launches each"
    between = f"{look.low:.2f} to {look.high:.2f}"
    prompts = len(verdict.clean.levels.prompts) if verdict.clean.levels else 0
    if verdict.word is Word.FASTER:
        return f"{look.fit.ratio:.2f}x faster on these {prompts} prompts ({between}), {each}"
    if verdict.word is Word.SLOWER:
        inverse = f"{1 / look.high:.2f} to {1 / look.low:.2f}"
        ratio = 1 / look.fit.ratio
        return f"{ratio:.2f}x slower on these {prompts} prompts ({inverse}), {each}"
    if verdict.word is Word.NO_MATERIAL_DIFFERENCE:
        low_high = f"{look.low:.3f} to {look.high:.3f}"
        return f"no material difference: within ±{design.margin:.0%}: {low_high}, {each}"
    why = _incomplete(verdict) if look.word is not verdict.word else ""
    return f"not enough evidence: {why or f'after {each} {between}'}"


def _too_few(verdict: Verdict, design: Design, launches: tuple[int, int]) -> str:
    """Before the first look: what there is, and what is missing."""
    base, other = launches
    if not base and not other:
        return NO_LAUNCH
    if not base or not other:
        arm = "the profile" if base else "the baseline"
        return f"no launch of {arm} could be used: nothing to compare"
    if verdict.clean.levels is None:
        return f"{base} and {other} launches, and no prompt that all of them answered"
    if base == other == 1 and design.known_spread:
        return f"{ONE_LAUNCH}, here by {design.known_spread:.1%} in earlier trials"
    if base == other == 1:
        return ONE_LAUNCH
    return f"{base} and {other} launches: too few for a verdict"


def _so_far(look: Look) -> str:
    return f"{look.fit.ratio:.2f}x so far, {look.launches} launches each; the trial goes on"


def find_reasons(verdict: Verdict, design: Design) -> tuple[str, ...]:
    """What stands behind the word, and what it does not say."""
    look = verdict.clean.look
    found = [_disturbed(verdict), _incomplete(verdict)]
    if look is not None:
        found += [
            _small(look, verdict.word, design),
            _missing_evidence(look, verdict.word, design),
            _noise(look.fit),
            _leans_on_shape(look),
            _unseen_mode(look),
            _traffic(verdict, look),
            _stalls(verdict),
        ]
    return tuple(reason for reason in found if reason)


def why_unsure(verdict: Verdict) -> str:
    """Why the interval of the clean launches is no evidence; empty when it is."""
    if verdict.clean.look is None:
        return ""
    return _both_analyses(verdict) if verdict.is_contradicted else _incomplete(verdict)


def _both_analyses(verdict: Verdict) -> str:
    """Each with its number and its interval: neither may be chosen afterwards."""
    clean, ran = verdict.clean.look, verdict.as_it_ran.look
    return (
        f"without the disturbed launches {_said(clean)}, "
        f"as it ran {_said(ran)}; a word needs both to say it"
    )


def _said(look: Look | None) -> str:
    if look is None:
        return "there are too few"
    word = "" if look.word in (None, Word.NOT_ENOUGH_EVIDENCE) else f"{look.word.value}, "
    return f"{word}{look.fit.ratio:.2f}x ({look.low:.2f} to {look.high:.2f})"


def _disturbed(verdict: Verdict) -> str:
    """How many launches of which arm, by what, and what they change."""
    clean = verdict.clean
    if not clean.left_out:
        return ""
    counts = " and ".join(
        f"{clean.left_out_sides.count(side)} of {side}"
        for side in ("A", "B")
        if side in clean.left_out_sides
    )
    why = "; ".join(dict.fromkeys(clean.left_out))
    changed = "" if clean.look is None else f": {_both_analyses(verdict)}"
    return f"disturbed launches, {counts} ({why}){changed}"


def _incomplete(verdict: Verdict) -> str:
    if not verdict.is_incomplete:
        return ""
    a, b = (_share(share, verdict.asked) for share in verdict.completed)
    return f"prompts answered in every launch: {a} of the baseline's, {b} of the other's"


def _share(share: float, asked: int) -> str:
    """With its exact 95 % interval."""
    low, high = clopper_pearson(round(share * asked), asked)
    return f"{share:.0%} ({low:.0%} to {high:.0%})"


def _small(look: Look, word: Word | None, design: Design) -> str:
    nearest = look.low if word is Word.FASTER else 1 / look.high
    if word not in (Word.FASTER, Word.SLOWER) or nearest >= 1 + design.margin:
        return ""
    return f"may be less than your margin of {design.margin:.0%}"


def _missing_evidence(look: Look, word: Word | None, design: Design) -> str:
    if word is not Word.NOT_ENOUGH_EVIDENCE or look.word is not word:
        return ""
    wanted = [
        (f"±{margin:.0%}", design.launches_for(margin, look.fit.spread))
        for margin in (design.margin, 2 * design.margin)
    ]
    parts = [f"{name} would take about {k} launches each" for name, k in wanted if k is not None]
    varies = f"restarts here vary by {look.fit.spread:.1%}"
    return "; ".join([varies, *parts]) if parts else f"{varies}: more than launches can average out"


def _noise(fit: Fit) -> str:
    apart = exp(TWO_LAUNCHES_DIFFER * sqrt(2) * fit.spread) - 1
    return f"two launches of one arm differ by up to {apart:.1%}"


def _leans_on_shape(look: Look) -> str:
    if look.launches > 3:  # noqa: PLR2004 - four and four is the least a permutation test needs
        return ""
    return "at this number of launches it leans on restarts that vary alike in both arms"


def _unseen_mode(look: Look) -> str:
    share = 1 - UNSEEN ** (1 / look.launches)
    rare = f"a second speed that shows in fewer than {share:.0%} of launches"
    return f"{rare} would probably have been missed"


def _traffic(verdict: Verdict, look: Look) -> str:
    """What follows for other prompts, and how many it takes where that is open."""
    levels = verdict.clean.levels
    reach = extend_to_traffic(look.fit, levels) if levels else None
    if levels is None or reach is None:
        return ""
    low, high = reach
    words = f"on other prompts like these: {low:.2f}x to {high:.2f}x as fast as the baseline"
    if verdict.word not in (Word.FASTER, Word.SLOWER) or not low < 1 < high:
        return words
    count = prompts_for(levels, log1p(TRAFFIC_WITHIN))
    return f"{words}, so open for traffic: ±{TRAFFIC_WITHIN:.0%} takes about {count} prompts"


def _stalls(verdict: Verdict) -> str:
    levels = verdict.clean.levels
    if levels is None or not any(levels.stalls.values()):
        return ""
    kind = "smoothed" if levels.are_stalls_smoothed else "kept, because they belong to one arm"
    return f"stalled answers: {levels.stalls['A']} and {levels.stalls['B']}, {kind}"
