"""Texts tokenised by the host's own tokenizer; only how often each id was said is sent back.

Runs in the interpreter that has SGLang. A `tokenizer.json` needs the `tokenizers` package alone,
any other tokenizer is loaded by `transformers`, without remote code.
"""

from __future__ import annotations

import importlib
import os
from collections import Counter
from typing import Any, Callable, Dict, List

from .render_chat import load


class CountError(Exception):
    """The texts cannot be tokenised here; says why."""


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Count the tokens of `request["texts"]` under the tokenizer of `request["directory"]`.

    Answer: counts (id as text, times) and library.
    """
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    directory = os.path.expanduser(request["directory"])
    path = os.path.join(directory, "tokenizer.json")
    if os.path.exists(path):
        encode, library = _fast(path), "tokenizers"
    else:
        encode, library = _slow(directory), "transformers"
    counts: Counter[int] = Counter()
    for text in request["texts"]:
        counts.update(encode(text))
    return {"counts": {str(token): times for token, times in counts.items()}, "library": library}


def _fast(path: str) -> Callable[[str], List[int]]:
    try:
        tokenizers = importlib.import_module("tokenizers")
    except ImportError as error:
        raise CountError("this interpreter has no tokenizers: %s" % error) from error
    try:
        tokenizer = tokenizers.Tokenizer.from_file(path)
    except Exception as error:
        words = " ".join(str(error).split())[:200]
        raise CountError("%s cannot be loaded: %s" % (path, words)) from error

    def encode(text: str) -> List[int]:
        return list(tokenizer.encode(text, add_special_tokens=False).ids)

    return encode


def _slow(directory: str) -> Callable[[str], List[int]]:
    tokenizer = load({"tokenizer": directory})

    def encode(text: str) -> List[int]:
        return [int(one) for one in tokenizer.encode(text, add_special_tokens=False)]

    return encode
