"""Prompts and answers made into token ids by the host's own tokenizer and chat template.

Runs in the interpreter that has SGLang, as `render_chat` does, and never asks the network.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, List, Optional

from .render_chat import RenderError, chosen_template, describe, load, read_template, render, sha256


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Tokenise `request["items"]`, each {messages or prompt, output}; an output is no prompt.

    The rest of the request is that of `render_chat`. Answer: prompt_ids and output_ids of each
    item, and the hashes of the tokenizer and, where a conversation was rendered, of the template.
    """
    os.environ.update(request.get("environment") or {})
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    tokenizer = load(request)
    template = _template(tokenizer, request)
    arguments = request.get("template_arguments") or {}

    def prompt_ids(item: Dict[str, Any]) -> List[int]:
        if item.get("messages"):
            return render(tokenizer, template or "", item["messages"], arguments)
        return _whole(tokenizer.encode(item["prompt"])) if item.get("prompt") else []

    return {
        "items": [
            {
                "prompt_ids": prompt_ids(item),
                "output_ids": _answer(tokenizer.encode, item["output"]),
            }
            for item in request["items"]
        ],
        "tokenizer_sha256": sha256(describe(tokenizer)),
        "template_sha256": sha256(template) if template else None,
        "tokenizer_class": type(tokenizer).__name__,
    }


def _template(tokenizer: Any, request: Dict[str, Any]) -> Optional[str]:
    """The one that the server would use; needed for conversations only."""
    if not any(item.get("messages") for item in request["items"]):
        return None
    named = read_template(request.get("chat_template"))
    return named or chosen_template(tokenizer, request.get("template_name"))


def _answer(encode: Callable[..., Any], text: str) -> List[int]:
    """Without the tokens that begin a text."""
    try:
        return _whole(encode(text, add_special_tokens=False))
    except TypeError as error:
        raise RenderError("this tokenizer cannot leave special tokens out: %s" % error) from error


def _whole(ids: Any) -> List[int]:
    return [int(token) for token in ids]
