"""Command lines that SGLang 0.5.23's own argument resolution was given, and what it said.

Models are stood for by `$NAME`; half of the rows had a CUDA platform pretended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.domain.checkpoint.values import ModelConfig
from specctl.domain.lint.case import Surroundings
from specctl.domain.lint.finding import Severity
from specctl.domain.lint.rules import RULES

if TYPE_CHECKING:
    from specctl.domain.lint.engine import Linted

FILE = Path(__file__).parents[3] / "data/lint/oracle-0.5.23.jsonl"
CAPABILITIES = {"cpu": None, "sm90": (9, 0), "sm100": (10, 0)}
LLAMA = ModelConfig(("LlamaForCausalLM",), vocab_size=2048)
TARGETS = {
    "$TARGET": LLAMA,
    "$DSV3": ModelConfig(("DeepseekV3ForCausalLM",)),
    "$GLM4MOE": ModelConfig(("Glm4MoeForCausalLM",)),
    "$QWEN3": ModelConfig(("Qwen3ForCausalLM",)),
}
DRAFTS = {
    "$EAGLE": ModelConfig(("LlamaForCausalLMEagle",)),
    "$EAGLE3": ModelConfig(("LlamaForCausalLMEagle3",)),
    "$DRAFT": LLAMA,
    "$GEMMA4DRAFT": ModelConfig(("Gemma4AssistantForCausalLM",)),
    "$DFLASH16": ModelConfig(("DFlashDraftModel",), block_size=8),
    "$DFLASHNB": ModelConfig(("DFlashDraftModel",)),
    "$DSPARK7": ModelConfig(("DSparkDraftModel",), block_size=7),
}
FILES = {
    "$FILES/adaptive.json": '{"1": {"candidate_steps": [1, 2, 4]}}',
    "$FILES/adaptive_nobs.json": '{"ema_alpha": 0.5}',
    "$FILES/adaptive_empty.json": '{"1": {"candidate_steps": []}}',
}
UNREADABLE = ("/nonexistent", "org/no-such", "$FILES/lora")


@dataclass(frozen=True)
class Row:
    """One command line and its outcome."""

    id: str
    device: str
    argv: list[str]
    env: dict[str, str]
    outcome: str
    resolved: dict[str, Any] | None
    launch: dict[str, Any] | None

    @property
    def is_accepted(self) -> bool:
        return self.outcome == "ok"

    @property
    def around(self) -> Surroundings:
        given = dict(zip(self.argv, self.argv[1:], strict=False))
        draft = next((given[f] for f in given if f.startswith("--speculative-draft-model-p")), None)
        is_lost = draft is not None and draft.startswith(UNREADABLE)
        return Surroundings(
            device="cpu" if self.device == "cpu" else "cuda",
            capability=CAPABILITIES[self.device],
            has_amx=False,
            target_config=TARGETS.get(given.get("--model-path", given.get("--model", ""))),
            draft_config=DRAFTS.get(draft or ""),
            draft_trouble="not there" if is_lost else None,
            files=FILES,
            missing_files=frozenset({"/nonexistent.json", "/nonexistent.yaml"}),
        )


def rows() -> list[Row]:
    return [_row(json.loads(line)) for line in FILE.read_text().splitlines()]


def _row(row: dict[str, Any]) -> Row:
    return Row(
        id=row["id"],
        device=row["device"],
        argv=row["argv"],
        env=row["env"],
        outcome=row["outcome"],
        resolved=row.get("resolved"),
        launch=row.get("launch"),
    )


DISAGREEMENTS = {
    "oth.layernorm_sp": "which targets may use it is no matter of speculation",
}
"""Rows on which lint and the server say otherwise, whatever is at hand."""

OTHER_VALUES = {
    "ngram.xpu": "the pretended CUDA platform chose its backend for another device",
    "cfg.ok": "what its --config file says was not recorded",
}
"""Rows that are accepted, and go on with another value than lint says."""

WITHOUT_A_TREE = {
    "algo.unknown.cpu": "a plugin may register the name",
    "algo.unknown.cuda": "a plugin may register the name",
    "q.bad": "the list of methods is the build's",
    "load.bad": "the list of formats is the build's",
    "arg.no_switch": "a later build may have the flag",
    "arg.no_cli_boundary": "a later build may have the flag",
    "arg.case": "a later build may have the flag",
}
"""Rows that only the build itself can refuse for certain."""

_SWITCHES = frozenset({
    "speculative_adaptive", "speculative_use_rejection_sampling", "enable_mixed_chunk",
    "disable_overlap_schedule",
})  # fmt: skip
_LATE = frozenset(rule.id for rule in RULES if rule.is_late)


def is_refused(linted: Linted) -> bool:
    """By the resolution itself; what dies later is accepted there."""
    errors = (f for f in linted.findings if f.severity is Severity.ERROR)
    return any(finding.rule not in _LATE for finding in errors)


def differences(row: Row, linted: Linted) -> dict[str, tuple[Any, Any]]:
    """Field to the value lint foresaw and the one the server went on with, where they differ."""
    found = {}
    for name, real in (row.resolved or {}).items():
        foreseen = linted.resolved.get(name.replace("_", "-"))
        if name in _SWITCHES:
            foreseen = bool(foreseen)
        if foreseen != real:
            found[name] = (foreseen, real)
    return found
