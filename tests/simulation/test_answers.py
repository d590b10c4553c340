"""The whole verdict, from single answers on, where some of them stall.

Answers are drawn one by one, so that the rule for stalled ones is tried as it is shipped.
"""

from __future__ import annotations

from collections import Counter
from math import log1p

import numpy as np
import pytest

from specctl.domain.trial.blocks import Answer, Block
from specctl.domain.trial.design import Design
from specctl.domain.trial.looks import Word
from specctl.domain.trial.order import launch_order
from specctl.domain.trial.verdict import judge
from tests.simulation.test_verdicts import TRIALS, band
from tests.simulation.trials import PROMPTS, Outcome, middles_of

RESTART, ANSWERS = 0.01, 0.02
STALLED, SLOWEST = 1.5, 4.0
DESIGN = Design()
ORDER = launch_order(DESIGN.most_launches)
MIDDLES = middles_of(len(ORDER))


@pytest.mark.parametrize(("effect", "share", "mean"), [(0.0, 0.008, 7.2), (0.03, 0.993, 4.6)])
def test_stalls_of_1_percent_are_no_evidence(effect, share, mean):
    found = simulate(effect, 0.01)
    words = (Word.FASTER, Word.SLOWER) if effect == 0 else (Word.FASTER,)
    assert found.share(*words) == pytest.approx(share, abs=band(share) + 0.01)
    assert found.launches <= mean + 0.5


def simulate(effect: float, stalls: float) -> Outcome:
    random = np.random.default_rng(5)
    weights = np.exp(random.normal(0, 0.5, PROMPTS))
    words: Counter[Word] = Counter()
    launches = 0
    for _ in range(TRIALS):
        word, used = _trial(effect, stalls, weights, random)
        words[word] += 1
        launches += used
    return Outcome(words, launches / TRIALS, TRIALS)


def _trial(effect, stalls, weights, random):
    blocks = []
    for number, side in enumerate(ORDER):
        level = random.normal(0, RESTART) - (log1p(effect) if side == "B" else 0.0)
        times = weights * np.exp(level + random.normal(0, ANSWERS, PROMPTS))
        slow = random.uniform(STALLED, SLOWEST, PROMPTS)
        times = np.where(random.random(PROMPTS) < stalls, times * slow, times)
        answers = {str(i): Answer(one, 100, None) for i, one in enumerate(times.tolist())}
        blocks.append(Block(side, MIDDLES[number], answers, ""))
        if number % 2:
            word = judge(blocks, DESIGN, asked=PROMPTS).word
            if word is not None:
                return word, (number + 1) // 2
    raise AssertionError("the last look has a word")
