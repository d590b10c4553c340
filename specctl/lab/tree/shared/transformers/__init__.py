"""SIMULATED: as much of transformers as rendering a conversation of the lab's models takes."""

from __future__ import annotations

import json
from pathlib import Path

from specctl.lab.chat import TEMPLATE, render
from specctl.lab.tokenizer import load_tokenizer

__version__ = "5.3.0"


class PreTrainedTokenizerFast:
    """The lab's own tokenizer, with the template that lies beside its files."""

    def __init__(self, directory):
        self.backend_tokenizer = _Backend()
        self.chat_template = (directory / "chat_template.jinja").read_text(encoding="utf-8")

    def encode(self, text, **_options):
        """The ids of a text."""
        return load_tokenizer().encode(text)

    def apply_chat_template(self, messages, *, chat_template=None, tokenize=True, **_options):
        """A conversation as text or ids; any other template than the lab's is refused."""
        if (chat_template or self.chat_template).strip() != TEMPLATE.strip():
            raise ValueError("SIMULATED: the lab renders no template but its own")
        text = render(messages)
        return {"input_ids": load_tokenizer().encode(text)} if tokenize else text


class _Backend:
    def to_str(self):
        """The content of tokenizer.json."""
        return json.dumps(load_tokenizer().describe())


class AutoTokenizer:
    """Finds the tokenizer of a model directory."""

    @staticmethod
    def from_pretrained(name, **_options):
        """That of the directory `name`; there is no hub here."""
        directory = Path(name)
        if not (directory / "tokenizer.json").is_file():
            raise OSError(f"{name} is no directory with a tokenizer.json")
        return PreTrainedTokenizerFast(directory)
