"""Transcripts made up for tests."""

from __future__ import annotations

import random

from specctl.domain.forecast.transcripts import Transcript


def like_text(count=8, length=150, seed=1, category="all"):
    """Outputs that share phrases and repeat common words, as text does."""
    chance = random.Random(seed)
    words = [int(500 * chance.paretovariate(0.9)) % 50_000 + 1 for _ in range(2000)]
    phrases = [[chance.choice(words) for _ in range(chance.randrange(4, 16))] for _ in range(30)]
    return [
        Transcript(
            _said(chance, words, phrases, 40), _said(chance, words, phrases, length), category
        )
        for _ in range(count)
    ]


def _said(chance, words, phrases, length):
    said: list[int] = []
    while len(said) < length:
        half = chance.random() < 0.5
        said += chance.choice(phrases) if half else [chance.choice(words) for _ in range(6)]
    return tuple(said[:length])


def at_random(count=4, length=150, seed=2, vocabulary=32_000):
    chance = random.Random(seed)
    return [
        Transcript((), tuple(chance.randrange(vocabulary) for _ in range(length)))
        for _ in range(count)
    ]
