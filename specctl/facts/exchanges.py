"""What was asked and answered before: JSON lines of token ids, or of texts for a tokenizer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

OUTPUT_ID_KEYS = ("output_ids", "completion_ids", "response_ids", "token_ids", "ids", "tokens")
PROMPT_ID_KEYS = ("prompt_ids", "input_ids", "prompt_token_ids")
ANSWER_KEYS = ("output", "completion", "response", "answer")
TALK_KEYS = ("messages", "conversations", "conversation")
ROLES: Mapping[str, str] = {"human": "user", "gpt": "assistant", "model": "assistant"}


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer; either both as ids or the answer as a text."""

    line: int
    """From 1."""

    category: str
    output_ids: tuple[int, ...] = ()
    prompt_ids: tuple[int, ...] = ()
    output: str = ""
    prompt: str = ""
    messages: tuple[tuple[str, str], ...] = ()
    """(role, content) of the prompt, where it is a conversation."""

    @property
    def is_text(self) -> bool:
        """It has to be tokenised."""
        return not self.output_ids


@dataclass(frozen=True, slots=True)
class Exchanges:
    """The lines of a file."""

    found: tuple[Exchange, ...]
    lines: int
    unanswered: int
    """Lines that hold a prompt and no answer."""

    not_understood: int
    first_wrong: int | None
    """The first line that is not understood, from 1."""


def read_exchanges(lines: Iterable[str]) -> Exchanges:
    """What the lines hold; each turn of an assistant is an answer of its own."""
    found: list[Exchange] = []
    seen = unanswered = wrong = 0
    first: int | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        seen += 1
        value = _json(line)
        if isinstance(value, dict) and "workload" in value:
            seen -= 1
            continue
        here = list(_exchanges(number, value))
        found += here
        if not here and _is_prompt(value):
            unanswered += 1
        elif not here:
            wrong += 1
            first = first or number
    return Exchanges(tuple(found), seen, unanswered, wrong, first)


def read_documents(lines: Iterable[str]) -> tuple[tuple[int, str | tuple[int, ...]], ...]:
    """(line, text or ids) of a corpus file; lines that are neither are left out."""
    found: list[tuple[int, str | tuple[int, ...]]] = []
    for number, line in enumerate(lines, 1):
        value = _json(line)
        if isinstance(value, dict):
            value = next((value[key] for key in ("text", "content", "ids") if key in value), None)
        if isinstance(value, str) and value:
            found.append((number, value))
        elif ids := _ids(value):
            found.append((number, ids))
    return tuple(found)


def _json(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_prompt(value: Any) -> bool:
    keys = (*PROMPT_ID_KEYS, *TALK_KEYS, "prompt", "text")
    return isinstance(value, dict) and any(key in value for key in keys)


def _exchanges(line: int, value: Any) -> Iterator[Exchange]:
    if isinstance(value, str):
        if value:
            yield Exchange(line, "all", output=value)
    elif ids := _ids(value):
        yield Exchange(line, "all", output_ids=ids)
    elif isinstance(value, dict):
        yield from _of_object(line, value)


def _of_object(line: int, value: Mapping[str, Any]) -> Iterator[Exchange]:
    category = value.get("category")
    category = category if isinstance(category, str) and category else "all"
    output = next((ids for key in OUTPUT_ID_KEYS if (ids := _ids(value.get(key)))), ())
    if output:
        prompt = next((ids for key in PROMPT_ID_KEYS if (ids := _ids(value.get(key)))), ())
        yield Exchange(line, category, output_ids=output, prompt_ids=prompt)
        return
    answer = next((value[key] for key in ANSWER_KEYS if _is_text(value.get(key))), "")
    talk = next((pairs for key in TALK_KEYS if (pairs := _talk(value.get(key)))), ())
    talk = talk or _talk(value.get("prompt"))
    if talk and answer:
        yield Exchange(line, category, output=answer, messages=talk)
    elif talk:
        for place, (role, content) in enumerate(talk):
            if role == "assistant" and content:
                yield Exchange(line, category, output=content, messages=talk[:place])
    elif answer:
        said = next((value[k] for k in ("prompt", "text", "input") if _is_text(value.get(k))), "")
        yield Exchange(line, category, output=answer, prompt=said)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _ids(value: Any) -> tuple[int, ...]:
    is_ids = isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)
    return tuple(value) if is_ids else ()


def _talk(value: Any) -> tuple[tuple[str, str], ...]:
    """A conversation; empty when a turn has no text, as a call of a tool has none."""
    turns: Sequence[Any] = value if isinstance(value, list) else ()
    found: list[tuple[str, str]] = []
    for turn in turns:
        role = turn.get("role", turn.get("from")) if isinstance(turn, dict) else None
        content = turn.get("content", turn.get("value")) if isinstance(turn, dict) else None
        if not isinstance(role, str) or not isinstance(content, str):
            return tuple(found)
        found.append((ROLES.get(role, role), content))
    return tuple(found)
