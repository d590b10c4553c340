"""The story of the lab as a list of ordinary commands: is speculation worth it on this host?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HOST = "lab-1"
BASELINE, FOREIGN, NGRAM = "lab-baseline", "lab-eagle3-foreign", "lab-ngram"
TRAINED = "lab-eagle3-trained"
CROWDED = "lab-crowded"
"""A profile that asks for more GPU memory than there is."""


PROMPTS = "short.jsonl"
"""In the workspace: a prompt of each of some categories, and short answers: it takes no hour."""

KINDS = ("chat", "code", "quote", "repetition")
WHICH, SHORT_TOKENS = 2, 32
"""The third of each: together they come to about the accept lengths of the whole workload."""

UP = ("lab", "up", "--load-factor", "0.2")


def short_prompts() -> str:
    """The content of that file, from the workload that comes with specctl."""
    from specctl.adapters.workloads import read_bundled

    prompts = read_bundled("mixed").prompts
    by_kind = [[one for one in prompts if one.category == kind] for kind in KINDS]
    lines = [
        {
            "messages": [{"role": role, "content": text} for role, text in prompt.messages],
            "category": prompt.category,
            "max_tokens": SHORT_TOKENS,
            "repeats": prompt.is_repetition_asked,
        }
        for prompt in (found[WHICH] for found in by_kind)
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Chapter:
    """One command of the story."""

    words: str
    """What it is run for."""

    command: tuple[str, ...]
    """After `specctl`; `{trial}` in it is the newest trial of `trial_of`."""

    ends_with: frozenset[int] = frozenset({0})
    """The exit statuses that belong to the story."""

    trial_of: str = ""


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
            "Does the drafter pay? A trial: both profiles are launched in turn, until a word can "
            "be said.",
            _trial(FOREIGN),
        ),
        Chapter("And NGRAM, which needs no drafter?", _trial(NGRAM)),
        Chapter(
            "A step costs what was measured; what would a better drafter bring? Fine-tuning this "
            "one stalls at 38 % accuracy.",
            _foresee("0.38"),
            trial_of=FOREIGN,
        ),
        Chapter(
            "One trained from scratch for this model reaches 75 %.",
            _foresee("0.75"),
            trial_of=FOREIGN,
        ),
        Chapter("That was a prediction. Now it is measured.", _trial(TRAINED)),
    )


def _trial(profile: str) -> tuple[str, ...]:
    return ("compare", HOST, BASELINE, profile, "--workload", PROMPTS, "--yes")


def _foresee(accuracy: str) -> tuple[str, ...]:
    return ("breakeven", "--measured", "{trial}", "--accuracy", accuracy, "--steps", "3")


def ending(words: Mapping[str, str]) -> tuple[str, ...]:
    """What was shown, and what comes next; `words` are those of the trials, by profile."""
    found = "; ".join(f"{profile} {word}" for profile, word in words.items())
    return (
        f"So, against {BASELINE}: {found}. Each word rests on several launches of both, and "
        "every figure is SIMULATED.",
        "Next, a host of yours: specctl add HOST examines it, specctl doctor HOST says what it "
        "lacks, and specctl compare HOST BASELINE PROFILE --dry-run what a verdict would take.",
    )
