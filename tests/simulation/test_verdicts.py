"""The shipped decision rule on trials whose truth is known.

The expected shares are those of simulations of whole trials, prompt by prompt; here a launch is
one draw, so a row may differ by `MODEL` on top of its two-sided binomial band.
"""

from __future__ import annotations

from math import sqrt

import pytest

from specctl.domain.trial.design import FLOOR_OF_KNOWN_HOST, Design
from specctl.domain.trial.looks import Word
from tests.simulation.trials import Noise, simulate

TRIALS = 4000
SIGMAS = 4
MODEL = 0.015
SHORT, LONG = Design(), Design(most_launches=12)
KNOWN = Design(floor=FLOOR_OF_KNOWN_HOST)
EFFECTS = (0.0, 0.03, 0.05, 0.10, 0.30)

ROWS = {
    "restart 0": (Noise(restart=0.0), SHORT, 0.0, 1.0),
    "restart 0.5 %": (Noise(restart=0.005), SHORT, 0.0, 1.0),
    "restart 1 %": (Noise(), SHORT, 0.009, 0.994),
    "restart 0.5 %, known host": (Noise(restart=0.005), KNOWN, 0.007, 1.0),
    "restart 1 %, known host": (Noise(), KNOWN, 0.035, 0.994),
    "restart 2 %": (Noise(restart=0.02), LONG, 0.036, 0.83),
    "drift 2 %/h": (Noise(drift_per_h=0.02), SHORT, 0.009, 0.995),
    "drift 5 %/h": (Noise(drift_per_h=0.05), SHORT, 0.008, 0.995),
    "wandering": (Noise(wander=0.02), SHORT, 0.009, 0.87),
    "autocorrelation": (Noise(correlation=0.9, answers=0.04), SHORT, 0.044, 0.42),
    "modes 25 % in both": (Noise(mode_chance=0.3, mode_gap=0.25), SHORT, 0.039, 0.10),
    "B twice as noisy": (Noise(b_ratio=2.0), SHORT, 0.038, 0.83),
    "heavy tails": (Noise(heavy_tails=True), SHORT, 0.003, 0.98),
    "slow windows": (Noise(stall_chance=0.08, stall_gap=0.36), SHORT, 0.012, 0.49),
    "restart 5 %": (Noise(restart=0.05), SHORT, 0.043, 0.13),
}


def band(share):
    return SIGMAS * sqrt(max(share, 0.002) * (1 - min(share, 0.998)) / TRIALS) + MODEL


@pytest.mark.parametrize("row", ROWS)
def test_false_words_are_as_rare_as_promised(row):
    noise, design, false, _ = ROWS[row]
    found = simulate(noise, 0.0, design, TRIALS)
    assert found.false == pytest.approx(false, abs=band(false))
    assert found.false <= 0.05


@pytest.mark.parametrize("row", ROWS)
def test_a_true_3_percent_is_found_as_often_as_promised(row):
    noise, design, _, found_share = ROWS[row]
    found = simulate(noise, 0.03, design, TRIALS, seed=2)
    assert found.share(Word.FASTER) == pytest.approx(found_share, abs=band(found_share) + 0.01)
    assert found.share(Word.SLOWER) <= 0.03


LAUNCHES = {
    "restart 0.5 %": (6.8, 4.1, 3.0, 3.0),
    "restart 0.5 %, known host": (4.5, 3.1, 3.0, 3.0),
    "restart 1 %": (7.2, 4.6, 3.2, 3.0),
    "restart 1 %, known host": (6.6, 4.2, 3.2, 3.0),
    "restart 2 %": (7.4, 7.6, 5.1, 3.2),
    "drift 5 %/h": (7.2, 4.8, 3.5, 3.0),
    "heavy tails": (6.9, 4.4, 3.2, 3.0),
}
"""Of each arm, on average, at a true 0, 3, 5 and 10 %."""


@pytest.mark.parametrize("row", LAUNCHES)
def test_verdicts_take_as_few_launches_as_promised(row):
    noise, design, *_ = ROWS[row]
    effects = (0.0, 0.03, 0.05, 0.10)
    used = [simulate(noise, effect, design, 1000, seed=4).launches for effect in effects]
    assert all(one <= most + 0.3 for one, most in zip(used, LAUNCHES[row], strict=True)), used


def test_modes_of_4_percent_in_both_arms():
    found = simulate(Noise(mode_chance=0.3, mode_gap=0.04), 0.0, SHORT, TRIALS)
    assert 0.02 <= found.false <= 0.05


def test_equality_is_said_when_it_can_be_seen_and_not_of_a_true_difference():
    quiet = Noise(restart=0.005)
    same = simulate(quiet, 0.0, SHORT, TRIALS)
    assert same.share(Word.NO_MATERIAL_DIFFERENCE) == pytest.approx(0.94, abs=0.03)
    at_the_margin = simulate(Noise(), 0.02, SHORT, TRIALS)
    assert at_the_margin.share(Word.NO_MATERIAL_DIFFERENCE) <= 0.012


def test_modes_in_one_arm_cannot_be_promised_and_are_known_to_deceive():
    noise = Noise(mode_chance=0.5, mode_gap=0.10, modes_in_b_only=True)
    found = simulate(noise, 0.0, SHORT, TRIALS)
    assert found.false > 0.10


def test_looks_save_launches_against_a_fixed_design_with_the_same_words():
    """At a restart noise of 2 %, a fixed design needs 23 launches per arm for all four words."""
    fixed = 23
    noise = Noise(restart=0.02)
    used = [simulate(noise, effect, LONG, 2000, seed=3).launches / fixed for effect in EFFECTS]
    assert sum(used) / len(used) <= 0.5


def test_a_large_effect_takes_two_launches_each():
    found = simulate(Noise(), 0.40, SHORT, 1000)
    assert found.share(Word.FASTER) == 1.0
    assert found.launches < 2.6
