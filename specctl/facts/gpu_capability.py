"""The compute capability of a GPU, told from its name; drivers' samples do not carry it.

Source: NVIDIA, "CUDA GPUs", compute capability table.
"""

from __future__ import annotations

import re

_NAMES: tuple[tuple[str, tuple[int, int]], ...] = (
    (r"\b(?:GB300|B300)\b", (10, 3)),
    (r"\b(?:GB200|B200|B100)\b", (10, 0)),
    (r"\b(?:GB10)\b", (12, 1)),
    (r"\bRTX PRO \d+ Blackwell\b|\bRTX PRO [2456]\d{3}\b|\bRTX 50\d\d\b", (12, 0)),
    (r"\b(?:H100|H200|H800|H20|GH200)\b", (9, 0)),
    (r"\b(?:L4|L20|L40S?|RTX 40\d\d|RTX 6000 Ada)\b", (8, 9)),
    (r"\b(?:A10G?|A16|A2|A40|RTX 30\d\d|RTX A\d+)\b", (8, 6)),
    (r"\b(?:A100|A800|A30)\b", (8, 0)),
    (r"\b(?:T4|RTX 20\d\d|Quadro RTX \d+)\b", (7, 5)),
    (r"\b(?:V100S?|TITAN V)\b", (7, 0)),
)


def capability_of(name: str) -> tuple[int, int] | None:
    """Major and minor; None for a GPU that is not listed here."""
    return next((found for pattern, found in _NAMES if re.search(pattern, name)), None)
