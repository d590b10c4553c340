"""The lab's model directories, read as a stranger would read them."""

from __future__ import annotations

import json
import struct

import pytest

from specctl.lab.checkpoints import write_models
from specctl.lab.draft_tables import AGREEING, choose_tokens
from specctl.lab.safetensors import Tensor, write_safetensors
from specctl.lab.seed import STORIES, read_story
from specctl.lab.tokenizer import load_tokenizer

SIZES = {"BF16": 2, "I64": 8, "BOOL": 1, "U8": 1}
DRAFTERS = ("kimi-k2-eagle3", "kimi-k2.5-eagle3")


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    for name in STORIES:
        write_models(folder, read_story(name))
    return folder


def read_file(path):
    """The header and a function that gives the bytes of a tensor."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    data = content[8 + length :]
    del content

    def read(name):
        begin, end = header[name]["data_offsets"]
        return data[begin:end]

    return header, read, len(data)


def read_table(path):
    header, read, _ = read_file(path / "model.safetensors")
    (size,) = header["d2t"]["shape"]
    return struct.unpack(f"<{size}q", read("d2t"))


def test_252_of_32000_positions_agree(models):
    foreign, trained = (read_table(models / name) for name in DRAFTERS)
    assert len(foreign) == len(trained) == 32_000
    agreeing = [place for place in range(32_000) if foreign[place] == trained[place]]
    assert len(agreeing) == AGREEING == 252
    assert agreeing == list(range(252))
    targets = [{place + offset for place, offset in enumerate(t)} for t in (foreign, trained)]
    assert 0.6 < len(targets[0] & targets[1]) / 32_000 < 0.8


@pytest.mark.parametrize("name", [*DRAFTERS, "small-8b-eagle3"])
def test_a_drafters_parts_fit_each_other(models, name):
    config = json.loads((models / name / "config.json").read_text())
    header, read, length = read_file(models / name / "model.safetensors")
    assert header.pop("__metadata__")["simulated"] == "specctl lab"
    ends = 0
    for tensor in header.values():
        begin, end = tensor["data_offsets"]
        assert begin == ends
        count = 1
        for size in tensor["shape"]:
            count *= size
        assert end - begin == count * SIZES[tensor["dtype"]]
        ends = end
    assert ends == length
    size, vocabulary = config["draft_vocab_size"], config["vocab_size"]
    offsets = read_table(models / name)
    tokens = [place + offset for place, offset in enumerate(offsets)]
    assert tokens == sorted(set(tokens))
    assert tokens[0] >= 0
    assert tokens[-1] < vocabulary
    marks = read("t2d")
    assert header["t2d"]["shape"] == [vocabulary]
    assert [token for token, mark in enumerate(marks) if mark] == tokens
    assert header["lm_head.weight"]["shape"][0] == size
    assert header["fc.weight"]["shape"] == [8, 3 * config["target_hidden_size"]]
    assert load_tokenizer().special_ids <= set(tokens)


@pytest.mark.parametrize("name", ["kimi-k2.5", "kimi-mini", "small-8b"])
def test_a_model_has_its_configuration_and_tokenizer(models, name):
    folder = models / name
    config = json.loads((folder / "config.json").read_text())
    text = config.get("text_config", config)
    assert config["architectures"]
    assert load_tokenizer().size <= text["vocab_size"]
    assert json.loads((folder / "tokenizer.json").read_text()) == load_tokenizer().describe()
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    assert settings["eos_token"] == "<|im_end|>"
    ends = json.loads((folder / "generation_config.json").read_text())["eos_token_id"]
    assert set(ends) == load_tokenizer().eos_ids
    assert "im_middle" in (folder / "chat_template.jinja").read_text()


def test_drafters_fit_their_targets(models):
    target = json.loads((models / "kimi-k2.5" / "config.json").read_text())["text_config"]
    for name in DRAFTERS:
        draft = json.loads((models / name / "config.json").read_text())
        assert draft["vocab_size"] == target["vocab_size"]
        assert draft["target_hidden_size"] == target["hidden_size"]


def test_all_of_it_takes_little_room(models):
    blocks = sum(path.stat().st_blocks for path in models.rglob("*") if path.is_file())
    assert blocks * 512 < 4 << 20


def test_a_tensor_must_be_filled(tmp_path):
    with pytest.raises(ValueError, match="3 bytes for 4"):
        write_safetensors(tmp_path / "a", {"x": Tensor("BF16", (2,), b"abc")}, {})


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="no draft vocabulary is called other"):
        choose_tokens("other", size=300, vocabulary=1000, specials=[])
