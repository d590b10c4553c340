"""Captured answers and logs: each has its right reading beside it, `NAME.expected.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True)
class Capture:
    """One captured text and what a right reading of it gives."""

    name: str
    data: bytes
    expected: dict[str, Any]

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    def __str__(self) -> str:
        return self.name


def captures(kind: str) -> list[Capture]:
    """Every capture of a kind; adding a case is adding two files."""
    found = []
    for path in sorted((DATA / "captures" / kind).glob("*.expected.json")):
        name = path.name.removesuffix(".expected.json")
        (text,) = (p for p in path.parent.glob(f"{name}.*") if p != path)
        found.append(Capture(name, text.read_bytes(), json.loads(path.read_text("utf-8"))))
    assert found, f"no captures of kind {kind}"
    return found


def case(name: str) -> str:
    """The raw text of a named case."""
    return (DATA / "cases" / f"{name}.txt").read_bytes().decode("utf-8")
