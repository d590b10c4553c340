"""Vocabulary files compared, and texts counted, where they lie."""

from __future__ import annotations

import json
import sys
from types import ModuleType, SimpleNamespace

import pytest

from specctl.agent.oneshot import count_tokens, vocabularies
from specctl.facts.vocabularies import read_counts, read_vocabularies
from tests.unit.oneshot.conftest import run_oneshot


@pytest.fixture
def compare(tmp_path):
    def compare_files(first, second):
        for side, files in (("target", first), ("draft", second)):
            (tmp_path / side).mkdir(exist_ok=True)
            for name, value in files.items():
                data = value if isinstance(value, bytes) else json.dumps(value).encode()
                (tmp_path / side / name).write_bytes(data)
        request = {side: str(tmp_path / side) for side in ("target", "draft")}
        return run_oneshot("vocabularies", request)

    return compare_files


def bpe(**vocab):
    return {
        "model": {"type": "BPE", "vocab": vocab},
        "added_tokens": [{"id": 9, "content": "</s>"}],
    }


def test_the_same_bytes_are_the_same_vocabulary(compare):
    found = compare({"tokenizer.json": bpe(a=0)}, {"tokenizer.json": bpe(a=0)})
    assert (found["same_file"], found["differing"], found["why"]) == (True, None, None)
    assert found["hashed_bytes"] == 2 * len(json.dumps(bpe(a=0)))


def test_ids_that_stand_for_other_tokens_are_counted_and_shown(compare):
    found = compare({"tokenizer.json": bpe(a=0, b=1, c=2)}, {"tokenizer.json": bpe(a=0, c=1)})
    assert (found["same_file"], found["entries"], found["differing"]) == (False, [4, 3], 2)
    assert found["examples"] == [
        '1 is "b" in the target, "c" in the draft',
        '2 is "c" in the target, nothing in the draft',
    ]
    read = read_vocabularies(found)
    assert (read.entries, read.differing) == ((4, 3), 2)


def test_a_unigram_list_and_a_vocab_json(compare):
    unigram = {"model": {"type": "Unigram", "vocab": [["a", -1.0], ["b", -2.0]]}}
    assert vocabularies.ids_of(json.dumps(unigram).encode()) == {0: "a", 1: "b"}
    found = compare({"vocab.json": {"a": 0, "b": 1}}, {"vocab.json": {"b": 0, "a": 1}})
    assert found["differing"] == 2


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ({"tokenizer.json": bpe(a=0)}, {}, "has no vocabulary file"),
        ({"tokenizer.json": bpe(a=0)}, {"tokenizer.json": b"\xff"}, "no JSON"),
        ({"tokenizer.json": bpe(a=0)}, {"tokenizer.json": b"[" * 99_999}, "no JSON"),
        ({"tokenizer.json": bpe(a=0)}, {"tokenizer.json": {"model": 7}}, "no vocabulary in it"),
        ({"tokenizer.json": bpe(a=0)}, {"tiktoken.model": b"x"}, "cannot be taken apart"),
        ({"tiktoken.model": b"y"}, {"tiktoken.model": b"x"}, "cannot be taken apart"),
    ],
    ids=["none", "binary", "deep", "empty", "other-kind", "tiktoken"],
)
def test_what_cannot_be_compared_has_its_reason(compare, first, second, words):
    found = compare(first, second)
    assert words in found["why"]
    assert found["differing"] is None
    assert words in read_vocabularies(found).missing["tokenizer"].detail


def test_a_file_beyond_the_limit_is_not_read(compare, tmp_path, monkeypatch):
    monkeypatch.setattr(vocabularies, "LARGEST_BYTES", 10)
    (tmp_path / "t").mkdir()
    (tmp_path / "t/tokenizer.json").write_text("x" * 11)
    found = vocabularies.main({"target": str(tmp_path / "t"), "draft": str(tmp_path / "t")})
    assert "larger than 10 bytes" in found["why"]
    assert found["hashed_bytes"] == 0


def test_only_counts_come_back_from_texts(tmp_path, monkeypatch):
    class Tokenizer:
        @staticmethod
        def from_file(path):
            if "broken" in path:
                raise ValueError("no\n tokenizer")
            return Tokenizer()

        def encode(self, text, *, add_special_tokens):
            assert not add_special_tokens
            return SimpleNamespace(ids=[len(word) for word in text.split()])

    library = ModuleType("tokenizers")
    library.Tokenizer = Tokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tokenizers", library)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, "")
    for name in ("good", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tokenizer.json").write_text("{}")
    answer = count_tokens.main({"directory": str(tmp_path / "good"), "texts": ["a bb a", "bb"]})
    assert read_counts(answer) == ({1: 2, 2: 2}, "tokenizers")
    with pytest.raises(count_tokens.CountError, match="cannot be loaded: no tokenizer"):
        count_tokens.main({"directory": str(tmp_path / "broken"), "texts": []})
