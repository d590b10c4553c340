"""How the lab's models are addressed in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

TEMPLATE = """\
{%- for message in messages -%}
<|im_{{ message['role'] }}|>{{ message['role'] }}<|im_middle|>{{ message['content'] }}<|im_end|>
{%- endfor -%}
{%- if add_generation_prompt -%}<|im_assistant|>assistant<|im_middle|>{%- endif -%}
"""
"""The Jinja template of the models' directories; `render` gives the same text."""

ROLES = ("system", "user", "assistant")


def render(messages: Iterable[Mapping[str, str]]) -> str:
    """The prompt of a conversation, ending where the assistant speaks; KeyError without a role."""
    turns = (
        f"<|im_{message['role']}|>{message['role']}<|im_middle|>{message['content']}<|im_end|>"
        for message in messages
    )
    return "".join(turns) + "<|im_assistant|>assistant<|im_middle|>"
