"""Costs, models and drafters of the lab hosts that contract tests run on: quick steps."""

from __future__ import annotations

from typing import Any

_CATEGORIES = ("chat", "code", "maths", "novel", "quote", "repetition", "structured")
_HABITS = {
    name: {"orders": [0.0, 0.1, 0.3, 0.6], "shortest": 300, "longest": 600} for name in _CATEGORIES
}
STORY: dict[str, Any] = {
    "costs": {
        "base_ms": {"1": 2.0, "8": 2.5},
        "verify_ms": {"1": {"1": 2.0, "12": 3.0}, "8": {"1": 2.5, "12": 5.0}},
        "draft_step_ms": {"EAGLE3": {"1": 0.3}},
        "match_ms": {"1": 0.1},
        "overhead_ms": {"1": 0.1},
        "prefill": {"fixed_ms": 3, "token_us": 2},
    },
    "models": {"target": {"weight_bytes": 8 << 30, "habits": _HABITS}},
    "drafters": {"draft": {"accept": [0.8, 0.7, 0.6], "weight_bytes": 1 << 30}},
}
