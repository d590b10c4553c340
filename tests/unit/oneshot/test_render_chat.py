"""Rendering with a tokenizer library that stands in for transformers."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from specctl.agent.oneshot import render_chat

TALK = [{"role": "user", "content": "Hi"}]


class Tokenizer:
    chat_template: Any = "plain"

    def get_vocab(self):
        return {"a": 1}

    def apply_chat_template(
        self, messages, *, chat_template, tokenize, add_generation_prompt, **more
    ):
        assert tokenize
        assert add_generation_prompt
        if chat_template == "refuses":
            raise ValueError("no system role here")
        text = f"{chat_template}|{messages[0]['content']}|{sorted(more.items())}"
        return [ord(character) for character in text]


@pytest.fixture
def loaded(monkeypatch):
    """Replaces transformers; holds what was asked of it."""
    asked: dict[str, Any] = {}

    class AutoTokenizer:
        @staticmethod
        def from_pretrained(name, **options):
            asked.update(name=name, **options)
            if name == "gone":
                raise OSError("not in\n the cache")
            return asked.get("tokenizer", Tokenizer())

    library = ModuleType("transformers")
    library.AutoTokenizer = AutoTokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", library)
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "TOKENIZERS_PARALLELISM", "HF_HOME"):
        monkeypatch.setenv(name, "")
    return asked


def render(**changes):
    return render_chat.main({"tokenizer": "here", "conversations": [TALK], **changes})


def decoded(answer):
    return "".join(map(chr, answer["ids"][0]))


def test_the_tokenizers_own_template_and_its_hashes(loaded):
    answer = render()
    assert decoded(answer) == "plain|Hi|[]"
    assert len(answer["template_sha256"]) == len(answer["tokenizer_sha256"]) == 64
    assert loaded == {"name": "here", "trust_remote_code": False, "local_files_only": True}


def test_the_network_is_never_asked(loaded, monkeypatch):
    import os

    render(environment={"HF_HOME": "/models", "HF_HUB_OFFLINE": "0"})
    assert (os.environ["HF_HOME"], os.environ["HF_HUB_OFFLINE"]) == ("/models", "1")


def test_what_the_server_was_told_is_told_the_tokenizer(loaded, tmp_path):
    template = tmp_path / "chat.jinja"
    template.write_text("other")
    answer = render(
        chat_template=str(template),
        template_arguments={"enable_thinking": False},
        trust_remote_code=True,
        revision="abc",
    )
    assert decoded(answer) == "other|Hi|[('enable_thinking', False)]"
    assert (loaded["trust_remote_code"], loaded["revision"]) == (True, "abc")


def test_one_of_several_templates_is_chosen_by_name(loaded):
    several = Tokenizer()
    several.chat_template = {"default": "d", "tools": "t"}
    loaded["tokenizer"] = several
    assert decoded(render()).startswith("d|")
    assert decoded(render(template_name="tools")).startswith("t|")


def test_transformers_5_answers_with_a_mapping(loaded, monkeypatch):
    monkeypatch.setattr(
        Tokenizer,
        "apply_chat_template",
        lambda *_, **__: {"input_ids": [7, 8], "attention_mask": []},
    )
    assert render()["ids"] == [[7, 8]]


def without_template():
    bare = Tokenizer()
    bare.chat_template = None
    return bare


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tokenizer": "gone"}, "gone cannot be loaded: not in the cache"),
        ({"chat_template": "llama-2"}, "llama-2 is built into SGLang, or no file"),
    ],
)
def test_what_cannot_be_rendered_says_why(loaded, changes, words):
    with pytest.raises(render_chat.RenderError, match=words):
        render(**changes)


def test_a_json_template_is_sglangs_own_form(loaded, tmp_path):
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(render_chat.RenderError, match="JSON form"):
        render(chat_template=str(tmp_path / "t.json"))


def test_no_template_and_a_refusing_one_are_said(loaded):
    loaded["tokenizer"] = without_template()
    with pytest.raises(render_chat.RenderError, match="has no chat template"):
        render()
    loaded["tokenizer"].chat_template = "refuses"
    with pytest.raises(render_chat.RenderError, match="no system role here"):
        render()


def test_an_interpreter_without_the_library_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(render_chat.RenderError, match="has no transformers"):
        render()
