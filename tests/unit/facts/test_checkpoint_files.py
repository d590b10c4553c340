from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.checkpoint.values import WeightsForm
from specctl.domain.missing import Missing
from specctl.facts.checkpoint_files import (
    index_names,
    read_config,
    read_object,
    read_tokens,
    snapshot_of,
    weight_files,
    weights_form,
)
from specctl.facts.transcripts import read_transcript
from specctl.facts.vocabularies import read_counts, read_vocabularies
from tests.unit.facts.test_fuzz import json_values

VISION = {
    "architectures": ["KimiK25ForConditionalGeneration"],
    "model_type": "kimi_k25",
    "text_config": {
        "architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 7168, "num_hidden_layers": 61,
        "vocab_size": 163_840, "num_nextn_predict_layers": 0, "eos_token_id": [163_585, 163_586],
        "kv_lora_rank": 512, "qk_rope_head_dim": 64,
        "quantization_config": {"quant_method": "compressed-tensors"},
    },
}  # fmt: skip


def test_the_language_part_of_a_composite_model_counts():
    found = read_config(VISION)
    assert found.architecture == "KimiK25ForConditionalGeneration"
    assert (found.hidden_size, found.layers, found.vocab_size) == (7168, 61, 163_840)
    assert (found.mtp_layers, found.quantization) == (0, "compressed-tensors")
    assert found.end_tokens == (163_585, 163_586)
    assert found.kv_rank == 576


def test_an_eagle3_configuration():
    found = read_config(
        {
            "architectures": ["LlamaForCausalLMEagle3"],
            "draft_vocab_size": 32_000,
            "target_hidden_size": 7168,
            "eagle_config": {"eagle_aux_hidden_state_layer_ids": [2, 30, 58]},
            "torch_dtype": "bfloat16",
            "tie_word_embeddings": False,
        }
    )
    assert (found.aux_layers, found.aux_count) == ((2, 30, 58), None)
    assert (found.draft_vocab_size, found.target_hidden_size) == (32_000, 7168)
    assert (found.dtype, found.ties_embeddings) == ("bfloat16", False)
    assert (
        read_config({"dflash_config": {"block_size": 8, "target_layer_ids": [1]}}).block_size == 8
    )


@pytest.mark.parametrize(
    ("rope", "positions"),
    [
        (None, 2048),
        ({"rope_type": "linear", "factor": 4.0}, 8192),
        ({"rope_type": "llama3", "factor": 8.0}, 2048),
        ({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}, 2048),
        ({"factor": 0}, 2048),
        ({"factor": "4"}, 2048),
        ([4], 2048),
    ],
)
def test_positions_as_the_server_works_them_out(rope, positions):
    config = {"max_position_embeddings": 2048, "rope_scaling": rope}
    assert read_config(config).max_positions == positions


def test_what_is_no_number_is_not_known():
    wrong = {"hidden_size": "64", "vocab_size": True, "eagle_config": [1], "architectures": "x",
             "num_hidden_layers": float("nan"), "eos_token_id": ["a"]}  # fmt: skip
    found = read_config(wrong)
    assert (found.hidden_size, found.vocab_size, found.layers) == (None, None, None)
    assert (found.aux_layers, found.architecture, found.end_tokens) == (None, "", ())


@pytest.mark.parametrize(
    ("files", "form"),
    [
        (["config.json", "model.safetensors", "pytorch_model.bin"], WeightsForm.SAFETENSORS),
        (["pytorch_model.bin", "config.json"], WeightsForm.PICKLE),
        (["training_args.bin", "config.json"], WeightsForm.NONE),
        (["draft-q4.gguf"], WeightsForm.GGUF),
        ([], WeightsForm.NONE),
    ],
)
def test_how_weights_are_held(files, form):
    assert weights_form(files) is form


def test_only_the_models_own_files_are_weights():
    assert weight_files(["model-2.safetensors", "adapter.safetensors", "model-1.safetensors"]) == (
        "model-1.safetensors", "model-2.safetensors",
    )  # fmt: skip
    assert weight_files(["draft.safetensors", "a.txt"]) == ("draft.safetensors",)


def test_names_of_a_piece_of_an_index():
    text = json.dumps({"weight_map": {"a.b": "model-1.safetensors", "c": "model-2.safetensors"}})
    assert index_names(text.encode()) == {"a.b", "c"}
    assert index_names(text.encode()[:-25]) == {"a.b"}
    assert index_names(b'"metadata": {"total_size": 3}') == frozenset()


def test_special_tokens_of_either_file():
    settings_file = {"added_tokens_decoder": {"7": {"content": "<s>"}, "x": {"content": "no"}}}
    assert read_tokens({}, None, {}, settings_file, "").specials == {7: "<s>"}
    beginning = '{"version": "1.0", "added_tokens": [{"id": 3, "content": "</s>"}], "model": {"vo'
    found = read_tokens({"tokenizer.json": 9, "a": 1}, None, {"eos_token_id": 3}, {}, beginning)
    assert found.specials == {3: "</s>"}
    assert (found.end_tokens, found.files) == ((3,), {"tokenizer.json": 9})
    assert read_tokens({}, None, {}, {}, '{"added_tokens": [{"id": 3').specials == {}


def test_the_snapshot_that_would_be_used():
    entries = [["snapshots/a"], ["snapshots/b/x"]]
    assert snapshot_of(entries, "b") == "b"
    assert snapshot_of(entries, "c") is None
    assert snapshot_of(entries, None) is None
    assert snapshot_of(entries[:1], None) == "a"


def test_transcripts_in_every_shape():
    lines = [
        "[1, 2, 2]", '{"output_ids": [3]}', '"said"', '{"text": "more"}', "",
        '{"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]}',
        '{"conversations": [{"from": "gpt", "value": "b"}]}', "not json", "[-1]", "{}",
    ]  # fmt: skip
    found = read_transcript(lines)
    assert found.counts == {1: 1, 2: 2, 3: 1}
    assert found.texts == ("said", "more", "a", "b")
    assert (found.lines, found.not_understood, found.first_not_understood) == (9, 3, 8)


@given(json_values)
def test_any_json_is_taken(value):
    text = json.dumps(value)
    found = read_object(text.encode())
    if not isinstance(found, Missing):
        read_config(found)
        read_config({"text_config": found, "eagle_config": found, "quantization_config": found})
        read_tokens({}, None, found, {"added_tokens_decoder": found}, text)
        read_vocabularies(found)
        read_counts({"counts": found})
    read_transcript([text, "{" + text])
    index_names(text.encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_taken(data):
    assert isinstance(read_object(data), Missing | dict)
    index_names(data)
