from __future__ import annotations

from dataclasses import replace

import pytest
from scipy import stats

from specctl.domain.trial.design import Design, degrees_of_freedom, floor_of, spread_of
from specctl.domain.trial.looks import Word
from specctl.domain.trial.verdict import judge
from specctl.domain.trial.words import ONE_LAUNCH, find_reasons, say_verdict
from tests.unit.domain.trial.blocks import block, trial

DESIGN = Design()
ASKED = 6
RESTARTS = (1.0, 1.004, 0.996, 1.003, 1.002, 0.998, 1.001, 0.997)


def verdict_of(blocks, design=DESIGN, asked=ASKED):
    return judge(blocks, design, asked=asked)


def test_one_launch_each_is_a_number_and_no_verdict():
    found = verdict_of(trial(1, speedup=1.5))
    assert found.word is None
    assert say_verdict(found, DESIGN, (1, 1)) == ONE_LAUNCH
    known = replace(DESIGN, known_spread=0.021)
    assert say_verdict(found, known, (1, 1)) == f"{ONE_LAUNCH}, here by 2.1% in earlier trials"


def test_two_launches_may_only_say_what_is_beyond_any_two_modes():
    assert verdict_of(trial(2, speedup=1.5, noise=RESTARTS)).word is Word.FASTER
    assert verdict_of(trial(2, speedup=1 / 1.5, noise=RESTARTS)).word is Word.SLOWER
    assert verdict_of(trial(2, speedup=1.25, noise=RESTARTS)).word is None
    assert verdict_of(trial(2, noise=RESTARTS)).word is None


def test_three_launches_tell_10_percent():
    found = verdict_of(trial(3, speedup=1.1, noise=RESTARTS))
    assert found.word is Word.FASTER
    assert "faster on these 6 prompts" in say_verdict(found, DESIGN, (1, 1))
    assert "3 launches each" in say_verdict(found, DESIGN, (1, 1))
    reasons = " / ".join(find_reasons(found, DESIGN))
    assert "a second speed that shows in fewer than 63% of launches" in reasons
    assert "leans on restarts that vary alike in both arms" in reasons
    assert "on other prompts like these" in reasons


def test_slower_says_by_how_much():
    found = verdict_of(trial(3, speedup=1 / 1.25, noise=RESTARTS))
    assert found.word is Word.SLOWER
    assert say_verdict(found, DESIGN, (1, 1)).startswith(
        "1.24x slower on these 6 prompts (1.19 to 1.28)"
    )


def test_equal_arms_end_in_no_material_difference():
    design = Design(most_launches=12, floor=0.005)
    words = [verdict_of(trial(k, noise=RESTARTS * 3), design).word for k in range(1, 13)]
    first = words.index(Word.NO_MATERIAL_DIFFERENCE)
    assert set(words[:first]) == {None}
    assert "within ±2%" in say_verdict(
        verdict_of(trial(first + 1, noise=RESTARTS * 3), design), design, (first + 1, first + 1)
    )


def test_noisy_restarts_end_in_not_enough_evidence_with_what_it_would_take():
    noise = (1.0, 1.06, 0.95, 1.03, 0.97, 1.05, 1.02, 0.94) * 2
    found = verdict_of(trial(8, speedup=1.02, noise=noise))
    assert found.word is Word.NOT_ENOUGH_EVIDENCE
    reasons = " / ".join(find_reasons(found, DESIGN))
    assert "±4% would take about" in reasons
    assert "restarts here vary by" in reasons


def disturbed(blocks, side, factor):
    """Every second launch of an arm throttles."""
    found, count = [], 0
    for one in blocks:
        count += one.side == side
        if one.side == side and count % 2:
            pace_s = 0.01 * factor
            one = block(side, pace_s, middle_s=one.middle_s, disturbed="the GPU throttled")
        found.append(one)
    return found


def test_a_word_needs_the_launches_as_they_ran_as_well():
    blocks = disturbed(trial(8, speedup=1.05, noise=RESTARTS * 2), "B", 1.12)
    found = verdict_of(blocks)
    assert found.clean.look is not None
    assert found.clean.look.word is Word.FASTER
    assert found.word is Word.NOT_ENOUGH_EVIDENCE
    assert "the GPU throttled" in found.clean.left_out
    assert found.is_contradicted
    clean, ran = found.clean.look, found.as_it_ran.look
    assert ran is not None
    assert ran.word is not Word.FASTER
    both = (
        f"without the disturbed launches faster, {clean.fit.ratio:.2f}x ({clean.low:.2f} to "
        f"{clean.high:.2f}), as it ran {ran.fit.ratio:.2f}x ({ran.low:.2f} to {ran.high:.2f}); "
        "a word needs both to say it"
    )
    assert say_verdict(found, DESIGN, (8, 8)) == f"not enough evidence: {both}"
    reasons = find_reasons(found, DESIGN)
    assert reasons[0] == f"disturbed launches, 4 of B (the GPU throttled): {both}"
    assert not any("would take about" in reason for reason in reasons), (
        "more launches would not make the analyses agree"
    )


def test_analyses_that_say_opposite_words_say_neither():
    """Of B only undisturbed launches are faster, and most were disturbed."""
    blocks = disturbed(trial(8, speedup=1.05, noise=RESTARTS * 2), "B", 1.5)
    found = verdict_of(blocks)
    assert (found.clean.word, found.word) == (Word.FASTER, Word.NOT_ENOUGH_EVIDENCE)
    early = disturbed(trial(4, speedup=1.05, noise=RESTARTS), "B", 1.5)
    assert verdict_of(early).word is None, "the trial goes on while it may"


def test_an_arm_that_is_always_disturbed_has_no_clean_number():
    blocks = [
        block("B", 0.009, middle_s=one.middle_s, disturbed="its output is a loop")
        if one.side == "B"
        else one
        for one in trial(8, noise=RESTARTS * 2)
    ]
    found = verdict_of(blocks)
    assert (found.clean.look, found.word) == (None, Word.NOT_ENOUGH_EVIDENCE)
    said = say_verdict(found, DESIGN, (8, 8))
    assert said.startswith("not enough evidence: without the disturbed launches there are too few")
    assert "as it ran faster, 1.10x (" in said
    assert find_reasons(found, DESIGN)[0] == "disturbed launches, 8 of B (its output is a loop)"


def test_disturbed_launches_that_change_nothing_are_told_with_both_numbers():
    blocks = disturbed(trial(6, speedup=1.3, noise=RESTARTS * 2), "B", 1 / 1.3)
    found = verdict_of(blocks)
    assert (found.word, found.is_contradicted) == (Word.FASTER, False)
    assert say_verdict(found, DESIGN, (6, 6)).startswith("1.2")
    reason = find_reasons(found, DESIGN)[0]
    assert "3 of B" in reason
    assert reason.count("faster, ") == 2


def test_prompts_that_fail_in_an_arm_leave_no_word_on_speed():
    blocks = trial(3, speedup=1.5, noise=RESTARTS)
    assert verdict_of(blocks, asked=6).word is Word.FASTER
    found = verdict_of(blocks, asked=7)
    assert found.word is Word.NOT_ENOUGH_EVIDENCE
    share = "prompts answered in every launch: 86% (42% to 100%) of the baseline's, 86%"
    assert any(r.startswith(share) for r in find_reasons(found, DESIGN))
    assert say_verdict(found, DESIGN, (3, 3)).startswith(f"not enough evidence: {share}")


def test_no_launch_has_no_look():
    found = verdict_of([])
    assert (found.word, found.clean.look, found.completed) == (None, None, (0.0, 0.0))


def test_the_plan_says_what_it_can_find():
    levels = {3: 0.0150, 4: 0.0106, 5: 0.0114, 6: 0.0128, 7: 0.0141, 8: 0.0157}
    for k, level in levels.items():
        df = 2 * k - (2 if k < 4 else 3)
        expected = stats.t.ppf(1 - level / 2, df) * 0.01 * (2 / k) ** 0.5
        assert DESIGN.half_width(k, 0.01) == pytest.approx(expected, rel=5e-3)
    assert DESIGN.half_width(1, 0.01) is None
    assert DESIGN.looks == (2, 3, 4, 5, 6, 7, 8)
    assert Design(first_look=6, early_error=0.0).looks == (6, 7, 8)
    found = DESIGN.smallest_found(8, 0.01)
    half = DESIGN.half_width(8, 0.01)
    assert half is not None
    assert found == pytest.approx(half + 0.8416 * 0.005, abs=1e-5)
    assert DESIGN.launches_for(0.02, 0.02) == pytest.approx(23, abs=1)
    assert DESIGN.launches_for(0.04, 0.02) == pytest.approx(7, abs=1)
    assert DESIGN.launches_for(1e-4, 0.05) is None
    assert (degrees_of_freedom(3), degrees_of_freedom(4)) == (4, 5)
    assert (floor_of(()), floor_of([(3, 0.01)]), floor_of([(3, 0.01)] * 2)) == (0.01, 0.01, 0.005)
    assert floor_of([(3, 0.01), (8, 0.02)]) == 0.01, "launches that vary more do not agree"
    assert spread_of(()) is None
    assert spread_of([(3, 0.01), (3, 0.07)]) == pytest.approx(0.05)


def test_secondary_concurrencies_share_their_error():
    assert DESIGN.shared_by(0) == DESIGN.shared_by(1) == DESIGN
    assert DESIGN.shared_by(4).error == pytest.approx(0.01)
