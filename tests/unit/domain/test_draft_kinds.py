from __future__ import annotations

import pytest

from specctl.domain.checkpoint.architecture import judge_kind
from specctl.domain.checkpoint.kinds import Kind, algorithm_for, canonical, kind_of
from specctl.domain.checkpoint.values import Checkpoint, ModelConfig, Severity


@pytest.mark.parametrize(
    ("architecture", "kind"),
    [
        ("LlamaForCausalLMEagle3", Kind.EAGLE3),
        ("Eagle3DeepseekV2ForCausalLM", Kind.EAGLE3),
        ("LlamaForCausalLMEagle", Kind.EAGLE),
        ("MistralLarge3ForCausalLMEagle", Kind.EAGLE),
        ("DeepseekV3ForCausalLMNextN", Kind.MTP),
        ("MiMoV2MTP", Kind.MTP),
        ("Qwen3_5ForCausalLMMTP", Kind.MTP),
        ("DeepseekV3ForCausalLM", Kind.WITH_MTP),
        ("DFlashDraftModel", Kind.DFLASH),
        ("DFlashLagunaForCausalLM", Kind.DFLASH),
        ("DSparkMiniMaxDraftModel", Kind.DSPARK),
        ("DeepseekV4ForCausalLMDSpark", Kind.DSPARK),
        ("Gemma4AssistantForCausalLM", Kind.ASSISTANT),
        ("Qwen3ForCausalLM", Kind.MODEL),
        ("KimiK25ForConditionalGeneration", Kind.MODEL),
        ("", Kind.UNKNOWN),
        ("Medusa", Kind.UNKNOWN),
    ],
)
def test_what_kind_an_architecture_is(architecture, kind):
    assert kind_of(architecture) is kind


@pytest.mark.parametrize(
    ("algorithm", "architecture", "severity"),
    [
        ("EAGLE", "LlamaForCausalLMEagle", Severity.PASS),
        ("NEXTN", "DeepseekV3ForCausalLM", Severity.PASS),
        ("nextn", "DeepseekV3ForCausalLMNextN", Severity.PASS),
        ("NEXTN", "Gemma4UnifiedAssistantForCausalLM", Severity.PASS),
        ("EAGLE3", "LlamaForCausalLMEagle3", Severity.PASS),
        ("STANDALONE", "DeepseekV3ForCausalLM", Severity.PASS),
        ("DFLASH", "DFlash2DraftModel", Severity.PASS),
        ("EAGLE", "LlamaForCausalLMEagle3", Severity.ERROR),
        ("EAGLE3", "LlamaForCausalLMEagle", Severity.ERROR),
        ("EAGLE3", "LlamaForCausalLM", Severity.ERROR),
        ("STANDALONE", "LlamaForCausalLMEagle3", Severity.ERROR),
        ("DFLASH", "LlamaForCausalLMEagle3", Severity.ERROR),
        ("EAGLE", "DFlashDraftModel", Severity.ERROR),
        ("EAGLE", "Medusa", Severity.HINT),
        ("SOMETHING", "LlamaForCausalLM", Severity.HINT),
    ],
)
def test_which_algorithm_takes_which(algorithm, architecture, severity):
    found = judge_kind(ModelConfig((architecture,)), algorithm)
    assert found.severity is severity
    assert bool(found.means) is (severity is Severity.ERROR)


@pytest.mark.parametrize(
    ("architecture", "is_target", "algorithm"),
    [
        ("LlamaForCausalLMEagle3", False, "EAGLE3"),
        ("DeepseekV3ForCausalLM", True, "EAGLE"),
        ("DeepseekV3ForCausalLM", False, "STANDALONE"),
        ("Gemma4AssistantForCausalLM", False, "EAGLE"),
        ("Medusa", False, ""),
    ],
)
def test_the_algorithm_a_draft_is_made_for(architecture, is_target, algorithm):
    draft = Checkpoint("d", config=ModelConfig((architecture,)))
    assert algorithm_for(draft, is_target=is_target) == algorithm
    assert algorithm_for(Checkpoint("d"), is_target=is_target) == ""


def test_nextn_is_eagle():
    assert [canonical(name) for name in ("NEXTN", " eagle3 ", "Eagle")] == [
        "EAGLE", "EAGLE3", "EAGLE",
    ]  # fmt: skip
