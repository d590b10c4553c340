"""Drafts made for the purpose, good ones and each fault, read by a real agent."""

from __future__ import annotations

import json
import shutil
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from specctl.domain.checkpoint.memory import memory_of
from specctl.domain.checkpoint.table import TableForm
from specctl.domain.checkpoint.tokens import agreement_of, coverage_of
from specctl.domain.checkpoint.values import Severity
from specctl.domain.checkpoint.vocabulary import table_of
from specctl.domain.errors import UsageError
from specctl.domain.preflight import StartOptions
from specctl.domain.profile import Profile, Speculation
from specctl.facts.transcripts import read_transcript
from specctl.lab.checkpoints import write_models
from specctl.services.checkpoint import CheckpointRequest, check_checkpoint, request_of
from specctl.services.fleet import close_host, open_host
from specctl.services.host_files import MOST_BYTES, FileReader
from specctl.services.launch import plan_launch
from tests.checkpoints import (
    DRAFT_VOCABULARY,
    END,
    VOCABULARY,
    WIDTH,
    Directories,
    chosen_ids,
    eagle3_config,
    eagle3_tensors,
    marks,
    model_tensors,
    offsets,
    target_config,
    tokenizer_json,
)

ERROR, WARNING, HINT, PASS = Severity.ERROR, Severity.WARNING, Severity.HINT, Severity.PASS


@pytest.fixture
def models(tmp_path):
    return Directories(tmp_path / "models")


@pytest.fixture
def check(connection):
    async def check_pair(target, draft, algorithm=None, **more):
        return await check_checkpoint(
            connection, CheckpointRequest(target, draft, algorithm, **more)
        )

    return check_pair


def finding(checked, key):
    return next(f for f in checked.findings if f.key == key)


def troubles(checked):
    return {f.key: f.severity for f in checked.findings if f.severity is not PASS}


async def test_a_good_draft_passes_in_every_row(models, check):
    checked = await check(models.target(), models.draft())
    assert troubles(checked) == {}
    assert checked.pairing.algorithm == "EAGLE3"
    assert {f.key for f in checked.findings} == {
        "architecture", "weights", "hidden-size", "fc-width", "aux-layers", "first-layer", "parts",
        "positions", "vocabulary", "draft-vocabulary", "d2t", "t2d", "special-tokens", "memory",
    }  # fmt: skip
    assert all(not f.means and not f.next_step for f in checked.findings)


async def test_no_weight_is_read_and_every_byte_is_counted(models, check, connection, monkeypatch):
    asked = []
    call = connection.agent.call

    async def counting(op, **params):
        answer = await call(op, **params)
        if op == "read":
            asked.append((Path(params["path"]), params["offset"], params["length"]))
        return answer

    monkeypatch.setattr(connection.agent, "call", counting)
    target, draft = models.target(), models.draft()
    checked = await check(target, draft)
    assert checked.table_bytes == 8 * DRAFT_VOCABULARY
    assert checked.bytes_read + checked.table_bytes == sum(length for _, _, length in asked)
    assert checked.bytes_read <= MOST_BYTES
    file = Path(draft, "model.safetensors")
    header = 8 + struct.unpack("<Q", file.read_bytes()[:8])[0]
    tables = {t.name: t for t in checked.pairing.draft.tensors if t.name in ("d2t", "t2d")}
    allowed = {
        (0, 8), (8, header - 8),
        *((header + t.begin, t.size_bytes) for t in tables.values()),
    }  # fmt: skip
    assert {(start, size) for path, start, size in asked if path == file} == allowed
    assert not [path for path, _, _ in asked if path == Path(target, "model.safetensors")]


async def test_a_seeds_drafter_shows_252_of_32000(models, check):
    first = np.arange(32_000) * 4
    second = first.copy()
    second[252:] += 4
    vocabulary = 4 * 32_100
    config = eagle3_config(vocab_size=vocabulary, draft_vocab_size=32_000)
    target = models.make("target", target_config(vocab_size=vocabulary))
    paths = [
        models.make(name, config, eagle3_tensors(ids, t2d=marks(ids, vocabulary)))
        for name, ids in (("draft", first), ("older", second))
    ]
    checked = await check(target, paths[0], other=paths[1])
    row = finding(checked, "against")
    assert row.severity is WARNING
    assert "252 of 32,000 positions" in row.words
    assert "31,999 tokens are in both sets (99.9%)" in row.words
    found = agreement_of(checked.pairing)
    assert found is not None
    assert (found.positions, found.of, found.shared) == (252, 32_000, 31_999)
    assert checked.table_bytes == 2 * 8 * 32_000
    assert checked.bytes_read <= MOST_BYTES


async def test_the_labs_drafters_are_252_of_32000_alike(connection, tmp_path):
    story: dict[str, dict[str, Any]] = {
        "models": {"kimi-k2.5": {}},
        "drafters": {
            "kimi-k2-eagle3": {"table": "foreign"},
            "kimi-k2.5-eagle3": {"table": "trained"},
        },
    }
    write_models(tmp_path / "models", story)
    names = [str(tmp_path / "models" / name) for name in ("kimi-k2.5", *story["drafters"])]
    request = CheckpointRequest(names[0], names[1], "EAGLE3", other=names[2])
    checked = await check_checkpoint(connection, request)
    assert troubles(checked) == {"against": WARNING}
    found = agreement_of(checked.pairing)
    assert found is not None
    assert (found.positions, found.of) == (252, 32_000)
    assert checked.bytes_read <= MOST_BYTES


FAULTS: dict[str, Any] = {
    "absolute": ({"d2t": chosen_ids()}, "d2t", ERROR, "absolute ids"),
    "unfilled": ({"d2t": np.zeros(DRAFT_VOCABULARY, np.int64)}, "d2t", ERROR, "never filled"),
    "beyond": (
        {"d2t": offsets(np.append(chosen_ids()[:-1], VOCABULARY + 9))},
        "d2t", ERROR, "1 point outside the target's 4096 tokens",
    ),
    "before": (
        {"d2t": offsets(np.append(chosen_ids()[:-1], -9))}, "d2t", ERROR, "1 point outside",
    ),
    "twice": (
        {"d2t": offsets(np.append(chosen_ids()[:-1], 5000 - 5000))},
        "d2t", ERROR, "1 point at a token that is taken",
    ),
    "shuffled": (
        {"d2t": offsets(np.roll(chosen_ids(), 1))}, "d2t", HINT, "not ascending in 1 places",
    ),
    "no-table": ({"d2t": None, "t2d": None}, "d2t", ERROR, "none, although"),
    "floats": ({"d2t": np.zeros(DRAFT_VOCABULARY, np.float32)}, "d2t", HINT, "cannot be read"),
    "other-marks": ({"t2d": marks(chosen_ids(7))}, "t2d", WARNING, "of them among the 512 of d2t"),
    "short-marks": ({"t2d": marks(chosen_ids(of=4000), 4000)}, "t2d", WARNING, "4,000 entries"),
    "narrow-fc": ({"fc__weight": np.zeros((WIDTH, 2 * WIDTH), np.float16)}, "fc-width", ERROR,
                  "64 × 128, config.json makes it 64 × 192"),
    "no-fc": ({"fc__weight": None}, "fc-width", ERROR, "no fc.weight"),
    "no-head": ({"lm_head__weight": None}, "draft-vocabulary", ERROR, "no lm_head for 512 tokens"),
    "small-head": ({"lm_head__weight": np.zeros((99, WIDTH), np.float16)}, "draft-vocabulary",
                   ERROR, "lm_head 99"),
    "half-layer": (
        {"midlayer__self_attn__q_proj__weight": np.zeros((WIDTH, WIDTH), np.float16)},
        "first-layer", ERROR, "an EAGLE-3 layer reads 128",
    ),
    "no-mlp": ({"midlayer__mlp__down_proj__weight": None}, "parts", ERROR, "down_proj"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
async def test_each_fault_of_the_tensors_is_its_own_row(models, check, fault):
    changes, key, severity, words = FAULTS[fault]
    checked = await check(models.target(), models.draft(**changes))
    row = finding(checked, key)
    assert row.severity is severity
    assert words in row.words
    assert row.means or severity is HINT
    others = {"t2d", "special-tokens", "draft-vocabulary", key}
    assert troubles(checked).keys() <= others, troubles(checked)


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


async def test_tokenizers_are_equal_by_file_then_by_id(models, check):
    target = models.target()
    small = target_config(hidden_size=32)
    same = models.make("same", small, model_tensors(2, 32), tokenizer__json=tokenizer_json())
    assert "byte by byte" in finding(await check(target, same), "tokenizer").words
    other = {**tokenizer_json(), "post_processor": {"type": "ByteLevel"}}
    alike = models.make("alike", small, model_tensors(2, 32), tokenizer__json=other)
    assert "the same 4,096 tokens" in finding(await check(target, alike), "tokenizer").words
    swapped = {f"w{n}": n for n in range(VOCABULARY)} | {"w7": 8, "w8": 7}
    near = models.make("near", small, model_tensors(2, 32), tokenizer__json=tokenizer_json(swapped))
    row = finding(await check(target, near), "tokenizer")
    assert row.severity is WARNING
    assert '7 is "w7" in the target, "w8" in the draft' in row.words
    without = models.make("without", small, model_tensors(2, 32))
    assert finding(await check(target, without), "tokenizer").severity is HINT


async def test_end_tokens_that_cannot_be_proposed_are_said(models, check):
    ids = np.setdiff1d(chosen_ids(), [END, 40])
    draft = models.make("draft", eagle3_config(draft_vocab_size=len(ids)), eagle3_tensors(ids))
    target = models.target()
    row = finding(await check(target, draft), "special-tokens")
    assert row.severity is WARNING
    assert f"{END} </s>" in row.words
    Path(target, "generation_config.json").write_text(json.dumps({"eos_token_id": [END, 1]}))
    row = finding(await check(target, draft), "special-tokens")
    assert (row.severity, row.words) == (
        HINT, "2 cannot be proposed: 2 </s>, 40 <think>",
    )  # fmt: skip


async def test_the_share_of_a_transcript_that_can_be_proposed(models, check):
    target, draft = models.target(), models.draft()
    left_out = next(n for n in range(VOCABULARY) if n not in chosen_ids())
    lines = [json.dumps([1, 2, 40, 40, left_out]), '{"output_ids": [1, 1, 1, 1, 1]}']
    checked = await check(
        target, draft, transcript=read_transcript(lines), transcript_name="a.jsonl"
    )
    row = finding(checked, "transcript")
    assert row.severity is HINT
    assert row.words == (
        "90.0% of 10 tokens can be proposed, 3 of 4 different ones (ids of a.jsonl)"
    )
    found = coverage_of(checked.pairing)
    assert found is not None
    assert found.most_left_out == ((left_out, 1),)


async def test_texts_are_not_counted_where_the_host_has_no_tokenizer_library(models, check):
    said = read_transcript(['{"text": "w1 w2"}'])
    checked = await check(models.target(), models.draft(), transcript=said)
    row = finding(checked, "transcript")
    assert row.severity is HINT
    assert "no tokenizers" in row.words


@pytest.mark.parametrize("file", ["pytorch_model.bin", "draft.gguf"])
async def test_what_cannot_be_checked_is_said(models, check, file):
    draft = models.make("draft", eagle3_config())
    Path(draft, file).write_bytes(b"PK\3\4")
    checked = await check(models.target(), draft)
    assert finding(checked, "weights").severity is HINT
    assert "cannot be checked" in finding(checked, "weights").means
    assert troubles(checked).keys() <= {"weights", "special-tokens", "memory"}
    assert "d2t" in checked.pairing.draft.missing


async def test_a_gguf_file_by_itself_cannot_be_checked(models, check):
    draft = Path(models.make("gguf", None), "draft-q4.gguf")
    draft.write_bytes(b"GGUF")
    target = models.target()
    checked = await check(target, str(draft), "STANDALONE")
    assert troubles(checked) == {"architecture": HINT, "weights": HINT, "tokenizer": HINT}
    assert finding(checked, "architecture").words == "a GGUF file brings no config.json"


async def test_a_directory_without_weights_or_that_is_not_there(models, check):
    target = models.target()
    empty = await check(target, models.make("draft", eagle3_config()))
    assert finding(empty, "weights").severity is ERROR
    gone = await check(target, "/nowhere/at/all")
    assert "/nowhere/at/all is not there" in finding(gone, "architecture").words
    assert [f.key for f in gone.findings] == ["architecture"]
    neither = await check("/nowhere/at/all", "/nowhere/else")
    assert [f.key for f in neither.findings] == ["target", "architecture"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (struct.pack("<Q", 1 << 62) + b"{}", "header would be 4611686018427387904 bytes"),
        (struct.pack("<Q", 2) + b"[]", "no object"),
        (b"\0", "ends after 1 bytes"),
        (struct.pack("<Q", 1 << 19) + b" " * (1 << 19), "524,288 bytes, 393,216 are read"),
    ],
    ids=["endless", "list", "short", "long"],
)
async def test_a_hostile_header_is_a_row_and_little_is_read(models, check, data, words):
    draft = models.make("draft", eagle3_config())
    Path(draft, "model.safetensors").write_bytes(data)
    checked = await check(models.target(), draft)
    assert words in finding(checked, "weights").words
    assert checked.bytes_read < 100_000


async def test_a_download_that_was_broken_off_is_said(models, check):
    draft = models.make("draft", target_config(hidden_size=32), model_tensors(2, 32))
    file = Path(draft, "model.safetensors")
    file.rename(file.with_name("model-00002-of-00003.safetensors"))
    row = finding(await check(models.target(), draft), "weights")
    assert row.severity is ERROR
    assert "model-00001-of-00003.safetensors and 1 more: not there" in row.words


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


async def test_an_index_of_ten_megabytes_is_read_at_its_ends(models, check):
    config = target_config(
        architectures=["DeepseekV3ForCausalLM"], num_nextn_predict_layers=1, num_hidden_layers=61
    )
    names = [f"model.layers.{n // 1500}.mlp.experts.{n}.down_proj.weight" for n in range(91_500)]
    first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
    index = dict.fromkeys(names, first)
    last = {"model.layers.61.eh_proj.weight": np.zeros((4, 4), np.float16)}
    model = models.make("model", config, last)
    Path(model, "model.safetensors").rename(Path(model, second))
    Path(model, first).write_bytes(struct.pack("<Q", 2) + b"{}")
    Path(model, "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": 9}, "weight_map": index})
    )
    checked = await check(model, model)
    assert Path(model, "model.safetensors.index.json").stat().st_size > 7_000_000
    assert finding(checked, "mtp-layers").words.startswith("there: at least 1 tensors")
    assert checked.bytes_read < 200_000
    Path(model, second).write_bytes(struct.pack("<Q", 2) + b"{}")
    row = finding(await check(model, model), "mtp-layers")
    assert row.severity is HINT
    assert "its two ends" in row.words


async def test_repositories_are_found_in_the_hosts_cache(models, check, tmp_path):
    hub = tmp_path / "hub"
    target = models.target()
    draft = Path(models.draft("blobs"))
    for name, source in (("org/target", Path(target)), ("org/draft", draft)):
        repository = hub / f"models--{name.replace('/', '--')}"
        snapshot = repository / "snapshots" / "9d1c"
        snapshot.mkdir(parents=True)
        (repository / "refs").mkdir()
        (repository / "refs/main").write_text("9d1c\n")
        for file in source.iterdir():
            (snapshot / file.name).symlink_to(file)
    environment = {"HF_HUB_CACHE": str(hub)}
    checked = await check("org/target", "org/draft", environment=environment)
    assert troubles(checked) == {}
    assert checked.pairing.draft.commit == "9d1c"
    lost = await check("org/target", "org/none", environment=environment)
    assert "org/none is not in" in finding(lost, "architecture").words


async def test_memory_counts_what_is_loaded_split_over_the_gpus(models, check):
    checked = await check(models.target(), models.draft(), tp_size=2)
    found = memory_of(checked.pairing)
    assert found is not None
    tensors = eagle3_tensors()
    whole = sum(a.nbytes for n, a in tensors.items() if n.startswith("fc.") or "norm" in n)
    total = sum(a.nbytes for n, a in tensors.items() if n not in ("d2t", "t2d"))
    assert found.weight_bytes == total
    assert found.per_gpu_bytes == whole + (total - whole) // 2
    assert found.kv_bytes_per_token == 2 * 1 * 16 * 2
    assert found.shared == ("embed_tokens",)


async def test_a_reader_stops_at_its_limit(connection, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"x" * 3_000_000)
    reader = FileReader(connection, most_bytes=1_000_000)
    first = await reader.read(str(file), 0, 900_000)
    assert isinstance(first, bytes)
    assert len(first) == reader.bytes_read == 900_000
    assert "beyond what is read" in str(await reader.read(str(file), 0, 200_000))
    assert await reader.read(str(file), 2_999_999, 100) == b"x"
    assert reader.bytes_read == 900_001
    assert "not a file" in str(await reader.read(str(tmp_path), 0, 1))


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


@pytest.fixture
def build(python, tmp_path):
    """The stand-in's interpreter with models of its own: another tree beside the first."""
    home = tmp_path / "build"
    shutil.copytree(Path(python).parents[1], home, symlinks=True)
    folder = next(home.glob("lib/python*/site-packages")) / "sglang/srt/models"
    folder.mkdir(parents=True)
    (folder / "llama.py").write_text(
        "class LlamaForCausalLM:\n    def set_eagle3_layers_to_capture(self): ...\n"
    )
    (folder / "mistral.py").write_text("\n\nclass MistralForCausalLM(LlamaForCausalLM):\n")
    (folder / "llama_eagle3.py").write_text("class LlamaForCausalLMEagle3:\n    pass\n")
    return str(home / "bin/python")


async def test_the_build_has_the_classes_or_not(models, host, build):
    draft, target = models.draft(), models.target()
    opened = await open_host(replace(host, python=build))
    try:
        checked = await check_checkpoint(opened, CheckpointRequest(target, draft))
        row = finding(checked, "build")
        assert row.severity is PASS
        assert row.words.endswith(
            "has LlamaForCausalLMEagle3 (srt/models/llama_eagle3.py:1); LlamaForCausalLM hands its"
            " states over"
        )
        inherits = models.make("mistral", target_config(architectures=["MistralForCausalLM"]))
        row = finding(await check_checkpoint(opened, CheckpointRequest(inherits, draft)), "build")
        assert row.severity is HINT
        assert "srt/models/mistral.py:3 has no set_eagle3_layers_to_capture" in row.words
        config = eagle3_config(architectures=["Eagle3DeepseekV2ForCausalLM"])
        other = models.make("other", config, eagle3_tensors())
        row = finding(await check_checkpoint(opened, CheckpointRequest(target, other)), "build")
        assert row.severity is ERROR
        assert "has no model class Eagle3DeepseekV2ForCausalLM" in row.words
    finally:
        await close_host(opened)


async def test_a_table_that_reads_well_both_ways_is_a_warning_where_it_is_large(models, check):
    ids = np.arange(0, 2400, 2)
    tensors = eagle3_tensors(ids, d2t=ids, t2d=None)
    config = eagle3_config(draft_vocab_size=len(ids))
    checked = await check(models.target(), models.make("draft", config, tensors))
    assert finding(checked, "d2t").severity is WARNING
    table = table_of(checked.pairing.draft, VOCABULARY)
    assert table is not None
    assert table.form is TableForm.EITHER


async def test_a01_a_start_reads_the_configurations_and_refuses_before_the_load(
    models, connection, profile, secrets, clock
):
    wrong = replace(
        profile,
        model=models.target(),
        speculation=Speculation(
            "EAGLE",
            {
                "draft-model-path": models.draft(),
                "num-steps": 3,
                "eagle-topk": 1,
                "num-draft-tokens": 4,
            },
        ),
    )
    plan = await plan_launch(connection, wrong, StartOptions(), secrets=secrets, clock=clock)
    (said,) = [check for check in plan.refusals if "EAGLE-3" in check.words]
    assert "speculation.algorithm" in said.words
    assert wrong.speculation is not None
    right = replace(wrong, speculation=replace(wrong.speculation, algorithm="EAGLE3"))
    plan = await plan_launch(connection, right, StartOptions(), secrets=secrets, clock=clock)
    assert not [check for check in plan.refusals if "EAGLE-3" in check.words]
    assert "draft" in [check.name for check in plan.checks]
