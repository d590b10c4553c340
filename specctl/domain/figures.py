"""How numbers, durations and ages are written, on screens and in tables; unknown is `—`."""

from __future__ import annotations

import math

UNKNOWN = "—"
GIB = 2**30
GB = 1e9
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
THREE_DIGITS = 99.95
"""From here on a value has three digits once it is rounded."""

THOUSAND, TEN_THOUSAND = 1000, 10_000


def known(value: float | None) -> float | None:
    """The value, None when it is no finite number."""
    return None if value is None or not math.isfinite(value) else value


def rate(value: float | None) -> str:
    """Tokens per second: `52.0`, `212`, `1,240`, `12.4k`."""
    value = known(value)
    if value is None:
        return UNKNOWN
    if value >= TEN_THOUSAND:
        return f"{value / 1000:.1f}k"
    if value >= THOUSAND:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= THREE_DIGITS else f"{value:.1f}"


def fixed(value: float | None, digits: int = 0, unit: str = "") -> str:
    """`digits` decimals, or `—`."""
    value = known(value)
    return UNKNOWN if value is None else f"{value:.{digits}f}{unit}"


def share(part: float | None, whole: float | None) -> float | None:
    """A ratio of two values that may be unknown."""
    part, whole = known(part), known(whole)
    return None if part is None or not whole else part / whole


def scaled(value: float | None, unit: float) -> float | None:
    """The value in another unit."""
    value = known(value)
    return None if value is None else value / unit


def percent(value: float | None) -> str:
    """A share 0-1 as `97%`."""
    value = known(value)
    return UNKNOWN if value is None else f"{value:.0%}"


def gib(value: float | None) -> str:
    """Bytes as GiB with at most three digits."""
    size = scaled(value, GIB)
    if size is None:
        return UNKNOWN
    return f"{size:,.0f}" if size >= THREE_DIGITS else f"{size:.1f}"


def duration(seconds: float | None) -> str:
    """`4:58` or `1:04:20`."""
    seconds = known(seconds)
    if seconds is None:
        return UNKNOWN
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def spoken(seconds: float | None) -> str:
    """A duration in prose: `42 s`, `4 min 58 s`, `2 h 01 min`, `3 d 4 h`."""
    seconds = known(seconds)
    if seconds is None:
        return UNKNOWN
    whole = max(0, int(seconds))
    if whole < MINUTE_S:
        return f"{whole} s"
    if whole < HOUR_S:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    if whole < DAY_S:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def about(seconds: float | None) -> str:
    """An estimate, roughly: `40 s`, `6 min`, `2 h 10 min`."""
    seconds = known(seconds)
    if seconds is None:
        return UNKNOWN
    if seconds < MINUTE_S:
        return f"{max(5, round(seconds / 5) * 5)} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < MINUTE_S else f"{minutes // 60} h {minutes % 60:02} min"


def age(seconds: float | None) -> str:
    """An age in a table: `1s`, `4m`, `2h`, `3d`."""
    seconds = known(seconds)
    if seconds is None:
        return UNKNOWN
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def clock(time_s: float, offset_s: int) -> str:
    """The wall clock at an offset from UTC: `14:05:32`."""
    day = int(time_s + offset_s) % 86_400
    return f"{day // 3600:02}:{day % 3600 // 60:02}:{day % 60:02}"


def watts(value: float | None) -> tuple[str, str]:
    """A sum of power and its unit: `231` `W`, `1.88` `kW`."""
    value = known(value)
    if value is None:
        return UNKNOWN, "W"
    return (f"{value / 1000:.2f}", "kW") if value >= THOUSAND else (f"{value:.0f}", "W")
