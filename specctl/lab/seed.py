"""The stories of the lab's hosts: models, drafters and what steps cost, one JSON file each."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

STORIES = ("pcie-8", "nvlink-8", "gb10", "mig")
USUAL = "pcie-8"


def read_story(scenario: str) -> dict[str, Any]:
    """`costs`, `models` and `drafters` of a scenario; the usual ones if it has none of its own."""
    name = scenario if scenario in STORIES else USUAL
    text = (resources.files("specctl.lab.data") / f"{name}.json").read_text(encoding="utf-8")
    story: dict[str, Any] = json.loads(text)
    return story
