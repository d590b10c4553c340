"""What a replayed day leaves behind in memory."""

from __future__ import annotations

import asyncio

from tests.bench.lab import folder
from tests.bench.measure import Measured, Side
from tests.tui.replayed_day import FULL_HOUR, grown_bytes

GOAL_MIB = 1.0


def replayed_day() -> Measured:
    """Growth after the hour in which every ring buffer was full."""
    with folder() as made:
        grown_mib = asyncio.run(grown_bytes(made)) / (1 << 20)
    return Measured(
        "memory over a replayed day", "MiB", Side("specctl", (grown_mib,)), None, GOAL_MIB,
        f"growth after hour {FULL_HOUR}; 8 GPUs, a server, its log, played hour by hour",
    )  # fmt: skip


if __name__ == "__main__":
    print(replayed_day())
