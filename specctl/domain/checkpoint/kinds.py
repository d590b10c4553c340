"""What kind of draft an architecture is, and which algorithms can use it.

Names of model classes: SGLang 0.5.23, `srt/models` (EntryClass) and
`srt/configs/model_config.py`, which renames a target's architecture when it is loaded as a draft.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.checkpoint.values import Checkpoint, ModelConfig


class Kind(StrEnum):
    """Kinds of drafts."""

    EAGLE = "an EAGLE draft"
    EAGLE3 = "an EAGLE-3 draft"
    MTP = "layers for multi-token prediction"
    WITH_MTP = "a model that brings layers for multi-token prediction"
    DFLASH = "a DFLASH draft"
    DSPARK = "a DSPARK draft"
    ASSISTANT = "a Gemma assistant"
    MODEL = "a complete model"
    UNKNOWN = "of unknown kind"


_BY_WORD = (
    ("eagle3", Kind.EAGLE3),
    ("dspark", Kind.DSPARK),
    ("dflash", Kind.DFLASH),
    ("museglimmerassistant", Kind.DFLASH),
    ("lilicorr", Kind.DFLASH),
    ("eagle", Kind.EAGLE),
    ("nextn", Kind.MTP),
    ("mtp", Kind.MTP),
    ("gemma4assistant", Kind.ASSISTANT),
    ("gemma4unifiedassistant", Kind.ASSISTANT),
)
"""Word in the architecture's name, in small letters; the first that is found counts."""

RENAMED = frozenset(
    {
        "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "DeepseekV4ForCausalLM",
        "GlmMoeDsaForCausalLM", "Glm4MoeForCausalLM", "Glm4MoeLiteForCausalLM",
        "Glm5NextForConditionalGeneration", "GlmOcrForConditionalGeneration",
        "LongcatFlashForCausalLM", "MiMoForCausalLM", "MiMoV2ForCausalLM", "MiMoV2FlashForCausalLM",
        "Step3p5ForCausalLM", "Step3p7ForConditionalGeneration", "InklingForConditionalGeneration",
        "GigaChat35ForCausalLM", "BailingMoeForCausalLM", "BailingMoeV2ForCausalLM",
        "BailingMoeV2_5ForCausalLM", "BailingMoeV3ForCausalLM", "Ernie4_5_MoeForCausalLM",
        "Qwen3NextForCausalLM", "Qwen4ExpForConditionalGeneration", "Qwen3MoeForCausalLM",
        "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration",
        "Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM", "InternS2PreviewForConditionalGeneration",
        "InternS2MobiusForConditionalGeneration", "ExaoneMoEForCausalLM", "ExaoneMoeForCausalLM",
        "NemotronHForCausalLM", "NemotronHPuzzleForCausalLM", "NemotronH_Omni_Reasoning_V3",
        "HYV3ForCausalLM", "HYV4ForCausalLM",
    }
)  # fmt: skip
"""Targets whose own checkpoint is loaded as a draft under the name of its MTP class."""

FITTING: Mapping[str, frozenset[Kind]] = {
    "EAGLE": frozenset({Kind.EAGLE, Kind.MTP, Kind.WITH_MTP, Kind.ASSISTANT}),
    "EAGLE3": frozenset({Kind.EAGLE3}),
    "STANDALONE": frozenset({Kind.MODEL, Kind.WITH_MTP}),
    "DFLASH": frozenset({Kind.DFLASH}),
    "DSPARK": frozenset({Kind.DSPARK}),
    "FROZEN_KV_MTP": frozenset({Kind.ASSISTANT}),
}
"""Algorithm to the kinds of draft that it can use."""

_ALIASES = {"NEXTN": "EAGLE"}
WITHOUT_DRAFT = frozenset({"NGRAM", "UNO", "NONE", ""})


def canonical(algorithm: str) -> str:
    """The algorithm's own name, in capitals: NEXTN is EAGLE."""
    name = algorithm.strip().upper()
    return _ALIASES.get(name, name)


def kind_of(architecture: str) -> Kind:
    """What kind of draft a checkpoint of this architecture is."""
    small = architecture.lower()
    found = next((kind for word, kind in _BY_WORD if word in small), None)
    if found is not None:
        return found
    if architecture in RENAMED:
        return Kind.WITH_MTP
    is_model = small.endswith(("forcausallm", "forconditionalgeneration"))
    return Kind.MODEL if is_model else Kind.UNKNOWN


def kind_in(config: ModelConfig | None) -> Kind:
    """The same, of a configuration."""
    return kind_of(config.architecture) if config is not None else Kind.UNKNOWN


def algorithm_for(draft: Checkpoint, *, is_target: bool) -> str:
    """The algorithm that a draft is made for; empty when its architecture does not tell.

    `is_target`: the draft is the target itself, so it is its MTP layers that would draft.
    """
    kind = kind_in(draft.config)
    if kind is Kind.WITH_MTP:
        return "EAGLE" if is_target else "STANDALONE"
    by_kind = {
        Kind.EAGLE: "EAGLE",
        Kind.EAGLE3: "EAGLE3",
        Kind.MTP: "EAGLE",
        Kind.DFLASH: "DFLASH",
        Kind.DSPARK: "DSPARK",
        Kind.ASSISTANT: "EAGLE",
        Kind.MODEL: "STANDALONE",
    }
    return by_kind.get(kind, "")
