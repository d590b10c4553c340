"""Chat messages rendered to token ids by the host's own tokenizer and chat template.

Runs in the interpreter that has SGLang, because that has the `transformers` the server uses. The
network is never asked: what the server could load is on this host.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
from typing import Any, Dict, List, Optional


class RenderError(Exception):
    """The messages cannot be rendered here; says why."""


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Render `request["conversations"]`, each a list of {role, content}.

    Request: tokenizer (path or repository id), chat_template (file or None), trust_remote_code
    (as the server has it), revision, template_name and template_arguments (or None), environment.
    Answer: ids of each conversation, and the hashes of the tokenizer and the template.
    """
    os.environ.update(request.get("environment") or {})
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
    tokenizer = load(request)
    template = read_template(request.get("chat_template")) or chosen_template(
        tokenizer, request.get("template_name")
    )
    arguments = request.get("template_arguments") or {}
    return {
        "ids": [render(tokenizer, template, talk, arguments) for talk in request["conversations"]],
        "template_sha256": sha256(template),
        "tokenizer_sha256": sha256(describe(tokenizer)),
        "tokenizer_class": type(tokenizer).__name__,
    }


def load(request: Dict[str, Any]) -> Any:
    """The tokenizer, as the server would load it."""
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise RenderError("this interpreter has no transformers: %s" % error) from error
    options = {
        "trust_remote_code": bool(request.get("trust_remote_code")),
        "local_files_only": True,
    }
    if request.get("revision"):
        options["revision"] = request["revision"]
    try:
        return transformers.AutoTokenizer.from_pretrained(request["tokenizer"], **options)
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        raise RenderError("%s cannot be loaded: %s" % (request["tokenizer"], words)) from error


def read_template(named: Optional[str]) -> Optional[str]:
    """The template that the server was told to use; None when it was told none."""
    if not named:
        return None
    if not os.path.isfile(named):
        raise RenderError("the chat template %s is built into SGLang, or no file" % named)
    with open(named, encoding="utf-8") as file:
        text = file.read()
    if named.endswith(".json"):
        raise RenderError("the chat template %s is in SGLang's own JSON form" % named)
    return text


def chosen_template(tokenizer: Any, name: Optional[str]) -> str:
    """The template that comes with the tokenizer."""
    template = getattr(tokenizer, "chat_template", None)
    if isinstance(template, dict):
        template = template.get(name or "default")
    if not template:
        raise RenderError("the tokenizer has no chat template")
    return str(template)


def render(
    tokenizer: Any, template: str, messages: List[Dict[str, str]], arguments: Dict[str, Any]
) -> List[int]:
    """The token ids of one conversation, ready for the assistant's answer."""
    try:
        ids = tokenizer.apply_chat_template(
            messages,
            chat_template=template,
            tokenize=True,
            add_generation_prompt=True,
            **arguments,
        )
    except Exception as error:
        raise RenderError("the chat template refuses the messages: %s" % error) from error
    if hasattr(ids, "keys"):  # transformers 5 answers with a mapping
        ids = ids["input_ids"]
    return [int(token) for token in ids]


def describe(tokenizer: Any) -> str:
    """Everything that the tokenizer is, as text."""
    fast = getattr(tokenizer, "backend_tokenizer", None)
    if fast is not None:
        return str(fast.to_str())
    return json.dumps(sorted(tokenizer.get_vocab().items()))


def sha256(text: str) -> str:
    """In hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
