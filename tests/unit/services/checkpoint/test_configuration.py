"""The draft's configuration beside the target's."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from specctl.domain.checkpoint.memory import memory_of
from specctl.domain.errors import UsageError
from specctl.domain.profile import Profile, Speculation
from specctl.services.checkpoint import request_of
from tests.checkpoints import (
    VOCABULARY,
    WIDTH,
    eagle3_config,
    eagle3_tensors,
    model_tensors,
    target_config,
    tokenizer_json,
)
from tests.unit.services.checkpoint.rows import ERROR, HINT, PASS, WARNING, finding, troubles

CONFIGS: dict[str, Any] = {
    "other-width": ({"hidden_size": 96}, "hidden-size", ERROR, "states of 96, the target's are 64"),
    "aux-beyond": (
        {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 5, 12]}}, "aux-layers", ERROR,
        "layers 1, 5, 12 are named, the target has 12",
    ),
    "aux-embedding": (
        {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [-1, 5, 9]}}, "aux-layers", PASS,
        "layers -1, 5, 9",
    ),
    "aux-negative": (
        {"eagle_config": {"eagle_aux_hidden_state_layer_ids": [-2, 5, 9]}}, "aux-layers", ERROR,
        "layers -2, 5, 9",
    ),
    "aux-count": (
        {"num_aux_hidden_states": 2,
         "eagle_config": {"eagle_aux_hidden_state_layer_ids": [1, 5, 9]}},
        "aux-layers", ERROR, "3 layers are named, num_aux_hidden_states is 2",
    ),
    "four-aux": ({"num_aux_hidden_states": 4}, "fc-width", ERROR, "4 × 64 in"),
    "two-layers": ({"num_hidden_layers": 2}, "layers", HINT, "2 layers"),
    "short": ({"max_position_embeddings": 512}, "positions", WARNING, "512 positions"),
    "other-vocabulary": ({"vocab_size": 5000}, "vocabulary", WARNING, "made for 5,000 tokens"),
    "other-size": (
        {"draft_vocab_size": 500}, "draft-vocabulary", ERROR, "config.json 500, d2t 512",
    ),
    "no-size": ({"draft_vocab_size": None}, "draft-vocabulary", ERROR, "has no draft_vocab_size"),
    "plain": ({"architectures": ["LlamaForCausalLM"]}, "architecture", ERROR,
              "the tensors are those of an EAGLE-3 draft"),
}  # fmt: skip


@pytest.mark.parametrize("fault", CONFIGS)
async def test_each_fault_of_the_configuration_is_its_own_row(models, check, fault):
    changes, key, severity, words = CONFIGS[fault]
    draft = models.make("draft", eagle3_config(**changes), eagle3_tensors())
    row = finding(await check(models.target(), draft, "EAGLE3"), key)
    assert (row.severity, words in row.words) == (severity, True), row


async def test_a_wider_target_is_what_target_hidden_size_says(models, check):
    config = eagle3_config(hidden_size=32, target_hidden_size=WIDTH)
    tensors = eagle3_tensors(
        fc__weight=np.zeros((32, 3 * WIDTH), np.float16),
        midlayer__self_attn__q_proj__weight=np.zeros((32, 64), np.float16),
        embed_tokens__weight=np.zeros((VOCABULARY, 32), np.float16),
    )
    checked = await check(models.target(), models.make("draft", config, tensors))
    assert troubles(checked) == {}
    assert finding(checked, "hidden-size").words == "64, as the target, its own is 32"
    found = memory_of(checked.pairing)
    assert found is not None
    assert found.shared == ()
    del tensors["embed_tokens.weight"]
    without = await check(checked.pairing.target.path, models.make("without", config, tensors))
    assert finding(without, "parts").words == "no tensor called embed_tokens"


async def test_a01_an_eagle3_draft_under_eagle_is_an_error_with_its_accept_length(models, check):
    checked = await check(models.target(), models.draft(), "EAGLE")
    row = finding(checked, "architecture")
    assert row.severity is ERROR
    assert "accept length exactly 1.00" in row.means
    assert 'algorithm = "EAGLE3"' in row.next_step


async def test_a04_a_standalone_draft_with_another_vocabulary(models, check):
    small = target_config(hidden_size=32, vocab_size=1000)
    draft = models.make(
        "draft", small, model_tensors(2, 32, 1000), tokenizer__json=tokenizer_json(size=1000)
    )
    checked = await check(models.target(), draft)
    assert checked.pairing.algorithm == "STANDALONE"
    row = finding(checked, "vocabulary")
    assert (row.severity, row.words) == (
        ERROR, "the draft was made for 1,000 tokens, the target has 4,096",
    )  # fmt: skip
    words = finding(checked, "tokenizer")
    assert words.severity is ERROR
    assert "3,096 ids differ of 4,096 and 1,000" in words.words
    assert checked.pairing.vocabularies.hashed_bytes > 10_000


async def test_mtp_layers_are_there_or_were_left_out(models, check):
    config = target_config(architectures=["DeepseekV3ForCausalLM"], num_nextn_predict_layers=1)
    whole = models.make(
        "whole", config,
        {**model_tensors(), f"model.layers.{12}.eh_proj.weight": np.zeros((4, 4), np.float16)},
    )  # fmt: skip
    row = finding(await check(whole, whole), "mtp-layers")
    assert (row.severity, row.words) == (PASS, "there: 1 tensors, 1 layer by config.json")
    cut = models.make(
        "cut", {**config, "quantization_config": {"quant_method": "awq"}}, model_tensors()
    )
    row = finding(await check(cut, cut, "NEXTN"), "mtp-layers")
    assert row.severity is ERROR
    assert "whoever quantised it (awq) left them out" in row.words


def test_a_profile_says_what_is_to_be_checked():
    profile = Profile(
        "kimi", "/models/kimi", arguments={"tp-size": 8, "context-length": 4096},
        speculation=Speculation("EAGLE3", {"draft-model-path": "/models/draft"}),
    )  # fmt: skip
    request = request_of(profile)
    assert (request.target, request.draft) == ("/models/kimi", "/models/draft")
    assert (request.algorithm, request.tp_size, request.context_length) == ("EAGLE3", 8, 4096)
    own = request_of(replace(profile, speculation=Speculation("NEXTN")))
    assert (own.draft, own.algorithm) == ("/models/kimi", "EAGLE")
    for speculation in (None, Speculation("NGRAM"), Speculation("STANDALONE")):
        with pytest.raises(UsageError, match="drafts without a checkpoint"):
            request_of(replace(profile, speculation=speculation))


async def test_an_algorithm_without_a_draft_is_refused(models, check):
    with pytest.raises(UsageError, match="NGRAM drafts without"):
        await check(models.target(), models.draft(), "NGRAM")
