"""Tokenising with a library that stands in for transformers."""

from __future__ import annotations

import pytest

from specctl.agent.oneshot import tokenize_texts
from specctl.agent.oneshot.render_chat import RenderError
from tests.unit.oneshot.test_render_chat import TALK, Tokenizer, loaded

__all__ = ["loaded"]


class Encoding(Tokenizer):
    def encode(self, text, *, add_special_tokens=True):
        return [1] * add_special_tokens + [ord(character) for character in text]


def tokenise(loaded, *items, **changes):
    loaded["tokenizer"] = changes.pop("library", None) or Encoding()
    return tokenize_texts.main({"tokenizer": "here", "items": list(items), **changes})


def test_a_prompt_begins_as_the_server_begins_it_and_an_answer_does_not(loaded):
    answer = tokenise(loaded, {"prompt": "ab", "output": "cd"}, {"prompt": "", "output": "e"})
    assert answer["items"] == [
        {"prompt_ids": [1, 97, 98], "output_ids": [99, 100]},
        {"prompt_ids": [], "output_ids": [101]},
    ]
    assert answer["template_sha256"] is None
    assert len(answer["tokenizer_sha256"]) == 64


def test_a_conversation_is_rendered_by_the_template(loaded, tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text("other")
    answer = tokenise(loaded, {"messages": TALK, "output": "x"}, chat_template=str(template))
    (item,) = answer["items"]
    assert "".join(map(chr, item["prompt_ids"])) == "other|Hi|[]"
    assert len(answer["template_sha256"]) == 64


def test_a_tokenizer_that_cannot_leave_its_beginning_out_is_said(loaded):
    class Old(Tokenizer):
        def encode(self, text):
            return [1]

    with pytest.raises(RenderError, match="special tokens"):
        tokenise(loaded, {"prompt": "", "output": "x"}, library=Old())
