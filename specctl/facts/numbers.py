"""Numbers out of foreign text and JSON: finite and of the right kind, or None."""

from __future__ import annotations

import math
from typing import Any

_MAX_DIGITS = 40


def fraction_of(value: Any) -> float | None:
    """A finite number, from a number or its text; a truth value is not one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and len(value) > _MAX_DIGITS:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def whole_of(value: Any) -> int | None:
    """A whole number, from a number or its text (`2.0` is one, `2.5` is not)."""
    number = fraction_of(value)
    return int(number) if number is not None and number.is_integer() else None


def text_of(value: Any) -> str | None:
    """A text that is not empty."""
    return value if isinstance(value, str) and value else None


def mapping_of(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """A JSON array; an empty one for anything else."""
    return value if isinstance(value, list) else []
