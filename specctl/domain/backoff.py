"""How long to wait before trying again."""

from __future__ import annotations

FIRST_S = 1.0
LONGEST_S = 60.0


def backoff_s(attempt: int, jitter: float) -> float:
    """Seconds before try number `attempt` (0 is the first repeat); `jitter` is drawn from 0 to 1.

    Doubles from 1 s to 60 s, and spreads each wait over its upper half so that hosts lost together
    do not come back together.
    """
    ceiling: float = min(LONGEST_S, FIRST_S * 2 ** min(attempt, 16))
    return ceiling * (0.5 + 0.5 * jitter)
