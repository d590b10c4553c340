"""What the hosts of a scenario know of models, drafters and the cost of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.lab.checkpoints import write_models
from specctl.lab.seed import read_story

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from specctl.lab.scenarios import Scenario

TARGET = "kimi-k2.5"
FOREIGN, TRAINED = "kimi-k2-eagle3", "kimi-k2.5-eagle3"


def story_of(scenario: Scenario) -> Mapping[str, Any]:
    """`costs`, `models` and `drafters` of scenario.json."""
    return read_story(scenario.name)


def lay_models(folder: Path, story: Mapping[str, Any]) -> None:
    """Write the model directories that the story names."""
    write_models(folder, story)
