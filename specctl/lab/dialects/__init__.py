"""What each release of SGLang says and takes: flags, arguments, metrics, shapes of JSON."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

VERSIONS = ("0.5.23", "0.5.10", "0.5.2")
"""That the lab speaks, newest first."""

_HERE = Path(__file__).parent


def read_dialect_data(version: str, name: str) -> Any:
    """`flags`, `arguments`, `metrics` or `shapes` of a version, as its JSON says."""
    return json.loads((_HERE / version / f"{name}.json").read_text())


@cache
def numbers_of(version: str) -> tuple[int, ...]:
    """`0.5.10` as (0, 5, 10)."""
    return tuple(int(part) for part in version.split("."))
