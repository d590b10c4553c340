"""What a start is refused for by the configurations of target and draft alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.checkpoint.values import ModelConfig
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.lint.plan_checks import ProfileReading
from specctl.domain.plan import Level
from specctl.domain.preflight import ModelReading, StartOptions
from specctl.domain.profile import Speculation
from tests.unit.domain.start_plan.readings import MODEL, PROFILE, READING, plan

DRAFT = "/srv/models/draft"
TARGET = ModelConfig(
    ("DeepseekV3ForCausalLM",), hidden_size=7168, vocab_size=163_840, max_positions=262_144
)
EAGLE3 = replace(TARGET, architectures=("LlamaForCausalLMEagle3",), draft_vocab_size=32_000)


def planned(
    algorithm, draft, *, target=TARGET, environment=None, read=True, told=(), unchecked=False
):
    arguments = {"num-steps": 3, "eagle-topk": 1, "num-draft-tokens": 4}
    profile = replace(
        PROFILE,
        speculation=Speculation(algorithm, {**arguments, "draft-model-path": DRAFT}),
        environment=environment or {},
    )
    models = {name: ModelReading(name, is_path=True, exists=True) for name in (MODEL, DRAFT)}
    configs = {MODEL: target, DRAFT: draft} if read else {}
    findings = tuple(Finding(Severity.ERROR, "", "said already", rule=rule) for rule in told)
    linted = ProfileReading(findings, "SGLang 0.5.23", is_from_source=True)
    reading = replace(READING, models=models, configs=configs, profile=linted)
    return plan(profile, reading, StartOptions(unchecked=unchecked))


def draft_checks(found):
    return [check for check in found.checks if check.name == "draft"]


def test_a_draft_that_fits_is_a_row_that_passes():
    (check,) = draft_checks(planned("EAGLE3", EAGLE3))
    assert check.level is Level.PASS
    assert "LlamaForCausalLMEagle3 is an EAGLE-3 draft" in check.words


@pytest.mark.parametrize("algorithm", ["EAGLE", "NEXTN", "eagle"])
def test_a01_an_eagle3_draft_under_eagle_is_refused_before_the_load(algorithm):
    found = planned(algorithm, EAGLE3)
    assert found.is_refused
    (check,) = draft_checks(found)
    assert "accept length exactly 1.00" in check.words
    assert check.next_step.startswith('Set algorithm = "EAGLE3"')


def test_a04_a_standalone_draft_with_another_vocabulary_is_refused_before_the_load():
    draft = ModelConfig(("LlamaForCausalLM",), hidden_size=576, vocab_size=49_152)
    found = planned("STANDALONE", draft, target=replace(TARGET, vocab_size=256_000))
    assert found.is_refused
    (check,) = draft_checks(found)
    assert "made for 49,152 tokens, the target has 256,000" in check.words
    assert "garbage" in check.words
    same = replace(draft, vocab_size=256_000)
    assert not planned("STANDALONE", same, target=replace(TARGET, vocab_size=256_000)).is_refused


def test_states_of_another_width_are_refused_and_another_vocabulary_is_said():
    found = planned("EAGLE3", replace(EAGLE3, hidden_size=4096, vocab_size=128_256))
    levels = [check.level for check in draft_checks(found)]
    assert levels == [Level.REFUSE, Level.WARN]


def test_fewer_positions_are_said_unless_the_variable_is_set():
    short = replace(EAGLE3, max_positions=2048)
    (check,) = draft_checks(planned("EAGLE3", short))
    assert check.level is Level.WARN
    assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN" in check.words
    told = {"SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN": "1"}
    assert draft_checks(planned("EAGLE3", short, environment=told))[0].level is Level.PASS


def test_what_the_check_of_the_profile_said_is_not_said_again():
    assert draft_checks(planned("EAGLE", EAGLE3, told=["eagle3-draft-under-eagle"])) == []
    draft = ModelConfig(("LlamaForCausalLM",), hidden_size=576, vocab_size=49_152)
    (check,) = draft_checks(planned("STANDALONE", draft, told=["standalone-vocabulary"]))
    assert check.level is Level.PASS


def test_an_unchecked_start_is_warned():
    found = planned("EAGLE", EAGLE3, unchecked=True)
    assert not found.is_refused
    assert [check.level for check in draft_checks(found)] == [Level.WARN]


def test_what_was_not_read_is_not_judged():
    assert draft_checks(planned("EAGLE", EAGLE3, read=False)) == []
    assert draft_checks(planned("NGRAM", EAGLE3)) == []
    assert draft_checks(plan()) == []
