"""Run every bench, print its row, write all of them to bench-DATE.json."""

from __future__ import annotations

import datetime
import json
import os
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench import (
    beside_nvitop,
    fifty,
    fleet_screen,
    forecasting,
    inspecting,
    lab,
    probing,
    remembering,
    sampling,
    serving,
    source_screen,
    starting,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.bench.measure import Measured

BENCHES: tuple[Callable[[], Measured | list[Measured]], ...] = (
    starting.version,
    starting.first_paint,
    sampling.sampling,
    serving.serving,
    fifty.fifty,
    fleet_screen.fleet_screen,
    source_screen.source_screen,
    remembering.replayed_day,
    beside_nvitop.beside_nvitop,
    inspecting.inspecting,
    forecasting.forecasting,
    probing.probing,
)


def main() -> int:
    """0 when every goal is met, else 1; a missing opponent is an error."""
    try:
        lab.require()
        inspecting.require()
    except lab.MissingOpponentError as error:
        sys.exit(f"bench: {error}")
    rows: list[Measured] = []
    for bench in BENCHES:
        found = bench()
        for row in found if isinstance(found, list) else [found]:
            print(row, flush=True)
            rows.append(row)
    now = datetime.datetime.now(datetime.UTC)
    report = {
        "schema": "specctl/bench/1",
        "taken": now.isoformat(timespec="seconds"),
        "machine": {
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
        },
        "rows": [row.as_json() for row in rows],
    }
    path = Path(f"bench-{now:%Y%m%dT%H%M%S}.json")
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path}", file=sys.stderr)
    return 0 if all(row.is_met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
