"""The lab's tokenizer: lossless, and the same as Hugging Face's (compared in tests/live)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.lab.corpus import CATEGORIES, read_classes, read_documents
from specctl.lab.tokenizer import SPECIAL, Tokenizer, load_tokenizer
from tests.unit.lab.merges import FILE, learn

SMALL = Tokenizer(
    [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "Ġ"), ("a", "n"), ("an", "an"), ("1", "2")]
)


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("the banana", [257, 220, 65, 261, 64]),
        (" the\n    then", [258, 198, 259, 220, 258, 77]),
        ("123412 x  ", [262, 18, 19, 262, 220, 87, 259]),
        ("é漢\u00a0the<|im_end|>the", [127, 102, 162, 120, 95, 126, 254, 257, 266, 257]),
        ("a[EOS]  \n\nthe!!", [64, 264, 259, 198, 198, 257, 0, 0]),
        ("\r\n\tananan", [201, 198, 197, 261, 260]),
    ],
)
def test_ids_are_those_of_the_tokenizers_library(text, ids):
    assert SMALL.encode(text) == ids


@given(st.text())
def test_any_text_comes_back(text):
    tokenizer = load_tokenizer()
    assert tokenizer.decode(tokenizer.encode(text), skips_special=False) == text


@given(st.lists(st.sampled_from([*SPECIAL, "the", " ", "\n", "x"])))
def test_special_tokens_are_found_wherever_they_stand(parts):
    tokenizer = load_tokenizer()
    ids = tokenizer.encode("".join(parts))
    assert sum(token in tokenizer.special_ids for token in ids) == sum(p in SPECIAL for p in parts)
    assert tokenizer.decode(ids) == "".join(p for p in parts if p not in SPECIAL)


def test_a_character_may_be_cut_by_a_token():
    tokenizer = load_tokenizer()
    ids = tokenizer.encode("漢")
    assert len(ids) == 3
    assert tokenizer.decode_bytes(ids[:2]) == "漢".encode()[:2]
    assert tokenizer.decode(ids[:2]) == "�"
    assert tokenizer.decode([tokenizer.size, -1]) == ""


def test_the_merges_are_what_the_corpus_teaches():
    learned = "".join(f"{first} {second}\n" for first, second in learn())
    assert FILE.read_text(encoding="utf-8") == learned


def test_words_of_a_class_are_single_tokens():
    tokenizer = load_tokenizer()
    words = [word for words in read_classes() for word in words]
    split = [word for word in words if len(tokenizer.encode(f" {word}")) > 1]
    assert split == []
    prose = " ".join(read_documents("chat"))
    assert len(tokenizer.encode(prose)) < 1.3 * len(prose.split())


def test_every_category_has_documents_of_some_length():
    for category in CATEGORIES:
        documents = read_documents(category)
        assert len(documents) >= 8
        assert all(len(load_tokenizer().encode(document)) >= 10 for document in documents)
