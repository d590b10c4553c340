"""What kind of answer a prompt asks for."""

from __future__ import annotations

import re

_CUES: dict[str, tuple[tuple[str, float], ...]] = {
    "code": (
        (r"\b(python|bash|sql|rust|golang|go with|javascript|typescript|dockerfile|pytest)\b", 2),
        (r"\b(function|script|class|bug|unit tests?|algorithm|query|implement|docstring)\b", 1),
        (r"\b(in c|c function|def |import |refactor|compile)", 1),
        (r"[;{]\s*$|\w\(\w*\)", 0.5),
    ),
    "structured": (
        (r"\b(json|yaml|xml|toml|openapi|schema)\b", 2.5),
        (r"\b(markdown table|csv|columns|keys|header)\b", 1.5),
    ),
    "quote": (
        (r"\b(summari[sz]e|quote|copy the text|quotation|nothing else changed)", 4),
        (r"\b(rewrite the|review this|below|in the text)\b", 1.5),
    ),
    "maths": (
        (r"\b(prove|solve|integrate|derive|compute|derivative|probability|modulo|theorem)\b", 2),
        (r"\b(divisible|integers?|equation|remainder|how many ways|show each step)\b", 2),
        (r"\b\d+ ?(km|m|hours?|minutes|percent)\b|[a-z]\^\d", 1),
    ),
    "repetition": (
        (r"\b(one per line|one line each|exactly \w+ times|\d+ rows|repeat|verses)\b", 3),
        (r"\b(from 1 to \d+|multiplication table|\d+ to \w+_?\d+|insert statements)\b", 4),
        (r"\b(times with|alternating|counting)\b", 1.5),
    ),
    "novel": (
        (r"\b(invent|poem|novel|riddle|imaginary|haiku|dialogue|dictionary entry)\b", 2.5),
        (r"\b(does not exist|zero gravity|cartographer|compose|story|company names)\b", 2.5),
    ),
}
_COMPILED = {
    category: tuple((re.compile(pattern, re.IGNORECASE), weight) for pattern, weight in cues)
    for category, cues in _CUES.items()
}
_OPENING = 600
"""Characters that are looked at: what is asked stands first."""


def find_category(prompt: str) -> str:
    """The category whose cues weigh most in the opening of `prompt`; chat without any."""
    opening = prompt[:_OPENING]
    weights = {
        category: sum(weight for pattern, weight in cues if pattern.search(opening))
        for category, cues in _COMPILED.items()
    }
    best = max(weights, key=lambda category: weights[category])
    return best if weights[best] else "chat"
