"""The story of the lab as a list of ordinary commands: is speculation worth it on this host?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HOST = "lab-1"
BASELINE, FOREIGN, NGRAM = "lab-baseline", "lab-eagle3-foreign", "lab-ngram"
CROWDED = "lab-crowded"
"""A profile that asks for more GPU memory than there is."""


PROMPTS = "short.jsonl"
"""In the workspace: a prompt of each of some categories, and short answers: it takes no hour."""

KINDS = ("chat", "code", "quote", "repetition", "structured")
SHORT_TOKENS = 64


def short_prompts() -> str:
    """The content of that file, from the workload that comes with specctl."""
    from specctl.adapters.workloads import read_bundled

    first = {prompt.category: prompt for prompt in reversed(read_bundled("mixed").prompts)}
    lines = [
        {
            "messages": [{"role": role, "content": text} for role, text in prompt.messages],
            "category": category,
            "max_tokens": SHORT_TOKENS,
            "repeats": prompt.is_repetition_asked,
        }
        for category, prompt in sorted(first.items())
        if category in KINDS
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Chapter:
    """One command of the story."""

    words: str
    """What it is run for."""

    command: tuple[str, ...]
    """After `specctl`."""

    ends_with: frozenset[int] = frozenset({0})
    """The exit statuses that belong to the story."""


def chapters(models: Path) -> Sequence[Chapter]:
    """What is run between `lab up` and `lab down`; `models` is the host's folder of models."""
    return (
        Chapter("Has the host what it needs?", ("doctor", HOST), frozenset({0, 1})),
        Chapter(
            "What can its build of SGLang do? NGRAM stands in the list.",
            ("inspect", HOST),
        ),
        Chapter("It needs no drafter. Which files is it?", ("inspect", HOST, "NGRAM")),
        Chapter(
            "Why would the drafter that is there be weak? It was made for the model before this "
            "one: its draft vocabulary means other tokens.",
            ("checkpoint", HOST, "--profile", FOREIGN, "--against", f"{models}/kimi-k2.5-eagle3"),
            frozenset({0, 1, 2}),
        ),
        Chapter(
            "A start that fails says its first cause, not its last line.",
            ("start", HOST, CROWDED, "--yes"),
            frozenset({1}),
        ),
        Chapter(
            "The baseline starts; each phase is shown.",
            ("start", HOST, BASELINE, "--yes"),
        ),
        Chapter(
            "It stops, and the end is proved: processes, ports, GPU memory.",
            ("stop", HOST, "--yes"),
        ),
        Chapter(
            "Three profiles, one after the other, with the same prompts: does speculation pay?",
            ("compare", HOST, BASELINE, FOREIGN, NGRAM, "--workload", PROMPTS, "--yes"),
        ),
    )
