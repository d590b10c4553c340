"""Trials with a known truth, judged by the shipped code, launch by launch.

The noise is that of `Noise`: what a whole launch is off by, and what its 40 answers leave.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from specctl.domain.trial.interval import fit_levels
from specctl.domain.trial.looks import Word, take_look
from specctl.domain.trial.order import launch_order

if TYPE_CHECKING:
    from specctl.domain.trial.design import Design

PROMPTS = 40
RESTART_S, PROMPT_S = 300.0, 3.0
WEIGHT_CV = 0.53
"""Of the tokens of a prompt: log-normal with sigma 0.5."""


@dataclass(frozen=True)
class Noise:
    restart: float = 0.01
    answers: float = 0.02
    """CV of one answer."""

    drift_per_h: float = 0.0
    wander: float = 0.0
    """SD of a slow wandering of 40 minutes."""

    correlation: float = 0.0
    """Of one answer with the next."""

    mode_chance: float = 0.0
    mode_gap: float = 0.0
    modes_in_b_only: bool = False
    b_ratio: float = 1.0
    """Restart noise of B over that of A."""

    heavy_tails: bool = False
    stall_chance: float = 0.0
    stall_gap: float = 0.0


@dataclass(frozen=True)
class Outcome:
    words: Counter[Word]
    launches: float
    """Per arm, on average."""

    trials: int

    def share(self, *words: Word) -> float:
        return sum(self.words[word] for word in words) / self.trials

    @property
    def false(self) -> float:
        return self.share(Word.FASTER, Word.SLOWER)


def simulate(noise: Noise, effect: float, design: Design, trials: int, seed: int = 1) -> Outcome:
    """`effect` is what B is really faster by."""
    random = np.random.default_rng(seed)
    order = launch_order(design.most_launches)
    middles = middles_of(len(order))
    levels = _levels(noise, effect, order, middles, trials, random)
    words: Counter[Word] = Counter()
    launches = 0
    for row in levels.tolist():
        word, used = judge(row, order, middles, design)
        words[word] += 1
        launches += used
    return Outcome(words, launches / trials, trials)


def judge(row, order, middles, design):
    for k in design.looks:
        part = 2 * k
        fit = fit_levels(row[:part], order[:part], middles[:part], floor=design.floor)
        assert fit is not None
        look = take_look(fit, design)
        assert look is not None
        if look.word is not None:
            return look.word, k
    raise AssertionError("the last look has a word")


def middles_of(count):
    block = RESTART_S + PROMPTS * PROMPT_S
    return [n * block + RESTART_S + PROMPTS * PROMPT_S / 2 for n in range(count)]


def _levels(noise, effect, order, middles, trials, random):
    is_b = np.array([side == "B" for side in order])
    times = np.array(middles)
    shape = (trials, len(order))
    scale = noise.restart * np.where(is_b, noise.b_ratio, 1.0)
    draws = (
        random.standard_t(3, shape) / sqrt(3) if noise.heavy_tails else random.normal(size=shape)
    )
    y = draws * scale + is_b * log1p(effect)
    y += random.normal(size=shape) * spread_of_answers(noise)
    y -= noise.drift_per_h * times / 3600
    if noise.wander:
        y += _wandering(noise.wander, times, trials, random)
    if noise.mode_chance:
        modes = random.random(shape) < noise.mode_chance
        y -= (modes & is_b if noise.modes_in_b_only else modes) * log1p(noise.mode_gap)
    if noise.stall_chance:
        y -= (random.random(shape) < noise.stall_chance) * noise.stall_gap
    return y


def spread_of_answers(noise):
    """What the answers of one launch leave of their noise in its level."""
    rho = noise.correlation
    n = np.arange(1, PROMPTS)
    correlated = 1 + 2 * np.sum((1 - n / PROMPTS) * rho**n)
    return noise.answers * sqrt((1 + WEIGHT_CV**2 * (1 - rho)) * correlated / PROMPTS)


def _wandering(spread, times, trials, random):
    found = np.empty((trials, len(times)))
    found[:, 0] = random.normal(0, spread, trials)
    for n in range(1, len(times)):
        kept = np.exp(-(times[n] - times[n - 1]) / 2400.0)
        fresh = random.normal(0, spread * sqrt(1 - kept**2), trials)
        found[:, n] = kept * found[:, n - 1] + fresh
    return found
