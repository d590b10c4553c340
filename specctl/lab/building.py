"""The engine of a launch, from the scenario of its lab host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.errors import SpecctlError
from specctl.lab.costs import Costs
from specctl.lab.drafters import Drafter, ModelDrafter, NgramDrafter, Skill
from specctl.lab.engine import Engine
from specctl.lab.hashing import seed_of
from specctl.lab.text_model import Habit, TextModel
from specctl.lab.tokenizer import Tokenizer, load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.lab.setting import Setting


class ScenarioError(SpecctlError):
    """A lab host's scenario lacks something or says something impossible."""


def build_engine(
    setting: Setting,
    scenario: Mapping[str, Any],
    *,
    model_name: str,
    draft_name: str | None = None,
    boot: int = 0,
) -> Engine:
    """An engine with the costs, text model and drafter that `scenario` gives those names.

    `scenario` is the object of scenario.json; names are directory names below home/models. `boot`
    numbers the launches of a host: each has its own small deviation from the costs, as real ones
    have. Raises ScenarioError for what the scenario lacks or has wrong.
    """
    try:
        seed = int(scenario.get("seed", 0))
        model = _build_model(scenario["models"][model_name], seed)
        drafter = _build_drafter(setting, scenario, draft_name, seed)
        costs = Costs.read(scenario["costs"])
        return Engine(setting, costs, model, drafter, seed=seed, boot=boot)
    except (KeyError, TypeError, ValueError) as error:
        raise ScenarioError(
            f"the scenario does not fit {model_name}"
            f"{f' with {draft_name}' if draft_name else ''}: {type(error).__name__}: {error}",
            hint="specctl lab down, then specctl lab up, lays the hosts out again.",
        ) from error


def build_tokenizer() -> Tokenizer:
    """The tokenizer of every model of the lab."""
    return load_tokenizer()


def _build_model(row: Mapping[str, Any], seed: int) -> TextModel:
    habits = {
        category: Habit(**{**habit, "orders": tuple(habit["orders"])})
        for category, habit in row["habits"].items()
    }
    return TextModel(load_tokenizer(), habits, seed)


def _build_drafter(
    setting: Setting, scenario: Mapping[str, Any], draft_name: str | None, seed: int
) -> Drafter | None:
    if setting.algorithm is None:
        return None
    if setting.algorithm == "NGRAM":
        return NgramDrafter(setting)
    skill = Skill.read(scenario["drafters"][draft_name])
    return ModelDrafter(setting, skill, seed_of(seed, draft_name))
