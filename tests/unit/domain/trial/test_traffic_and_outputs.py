from __future__ import annotations

import pytest
from scipy import stats

from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.levels import find_levels
from specctl.domain.trial.losslessness import Pair, compare_outputs, excess_p
from specctl.domain.trial.traffic import deviations, extend_to_traffic, prompts_for
from tests.unit.domain.trial.blocks import block, trial

NOISE = (1.0, 1.004, 0.996, 1.003, 1.002, 0.998, 1.001, 0.997)


def fitted(blocks):
    levels = find_levels(blocks)
    assert levels is not None
    fit = fit_levels(levels.y, levels.sides, levels.middles_s, floor=0.01)
    assert fit is not None
    return fit, levels


def test_traffic_is_wider_than_these_prompts_when_they_differ():
    even, levels = fitted(trial(4, speedup=1.2, noise=NOISE))
    low, high = extend_to_traffic(even, levels) or (0.0, 0.0)
    assert low < even.ratio < high
    uneven = [
        block("A", middle_s=b.middle_s) if b.side == "A"
        else block("B", 0.01, middle_s=b.middle_s, off={"p0": 0.4, "p1": 1.3, "p2": 0.5})
        for b in trial(4)
    ]  # fmt: skip
    wide, levels = fitted(uneven)
    reach = extend_to_traffic(wide, levels)
    assert reach is not None
    assert reach[1] - reach[0] > 5 * (high - low)
    assert prompts_for(levels, 0.05) > 20


def test_one_prompt_says_nothing_of_traffic():
    fit, levels = fitted(trial(2, tokens={"p0": 100}))
    assert extend_to_traffic(fit, levels) is None
    assert prompts_for(levels, 0.05) == 1


def test_what_a_restart_does_to_all_prompts_cancels_in_a_category():
    names = {f"p{n}": "code" if n < 6 else "chat" for n in range(12)}
    tokens = dict.fromkeys(names, 100)
    blocks = [
        block(b.side, 0.01 * factor, tokens=tokens, middle_s=b.middle_s,
              off={p: 0.8 for p in names if b.side == "B" and names[p] == "code"})
        for b, factor in zip(trial(4), (1, 1.2, 0.9, 1.1, 1.3, 0.8, 1.0, 1.15), strict=True)
    ]  # fmt: skip
    _, levels = fitted(blocks)
    code, chat = deviations(levels, names)
    assert code.against_all > 1 > chat.against_all
    assert code.low is not None
    assert 1 < code.low < code.against_all
    assert (code.prompts, chat.prompts) == (6, 6)


def test_a_small_category_has_a_number_and_no_interval():
    names = {f"p{n}": "code" if n < 2 else "chat" for n in range(6)}
    _, levels = fitted(trial(3, noise=NOISE))
    code, chat = deviations(levels, names)
    assert (code.low, code.high, chat.low) == (None, None, None)
    assert code.against_all == pytest.approx(1.0, abs=1e-4)


def test_outputs_all_alike_are_counted_and_not_called_lossless():
    same = compare_outputs([Pair(200, is_same=True)] * 40)
    assert (same.prompts, same.identical, same.tokens) == (40, 40, 8000)
    assert same.share_low == pytest.approx(0.912, abs=1e-3)
    assert same.divergences_per_1000_at_most == pytest.approx(0.374, abs=0.01)
    nothing = compare_outputs([])
    assert nothing.divergences_per_1000_at_most is None
    assert (nothing.share_low, nothing.share_high) == (0.0, 1.0)


@pytest.mark.parametrize(("only_between", "only_within"), [(8, 0), (5, 3), (0, 4), (0, 0)])
def test_the_excess_over_two_launches_of_one_arm_is_mcnemars(only_between, only_within):
    between = [False] * only_between + [True] * only_within + [True] * 20
    within = [True] * only_between + [False] * only_within + [True] * 20
    discordant = only_between + only_within
    expected = (
        stats.binomtest(only_between, discordant, alternative="greater").pvalue if discordant else 1
    )
    assert excess_p(between, within) == pytest.approx(expected)
