"""Prompts of one length."""

from __future__ import annotations

from specctl.domain.probe import Prompt
from specctl.domain.workload import Workload

STARTS = (
    "River",
    "Under the old",
    "Seventeen",
    "A letter to",
    "Bread and",
    "Nobody saw",
    "If",
    "To",
)


def workload(prompts=STARTS, tokens=24, **more) -> Workload:
    texts = [f"{start} one two three four five six seven eight nine ten" for start in prompts]
    return Workload("w", tuple(Prompt(text=t, max_tokens=tokens, **more) for t in texts), "0" * 64)
