"""A duration as a person types it."""

from __future__ import annotations

import math
import re

from specctl.domain.errors import UsageError

_PARTS = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s)?")
_BARE = re.compile(r"\d+(?:\.\d+)?")
_UNITS_S = (3600.0, 60.0, 1.0)


def read_duration(text: str) -> float:
    """Seconds of `40m`, `2h`, `1h30m`, `90s`; UsageError says what to write, above all for `40`."""
    word = "".join(text.lower().split())
    if _BARE.fullmatch(word):
        raise UsageError(f"{text!r} has no unit", hint=f"Write {word}m, {word}h or {word}s.")
    found = _PARTS.fullmatch(word)
    parts = zip(found.groups(), _UNITS_S, strict=True) if found else ()
    seconds = sum(float(part) * unit for part, unit in parts if part)
    if not 0 < seconds < math.inf:
        raise UsageError(f"{text!r} is no time", hint="Write it as 40m, 2h, 1h30m or 90s.")
    return seconds
