"""Transcripts: a line each, token ids or texts of answers.

A line is JSON: a list of ids; a text; or an object that holds either under one of the usual keys,
or `messages`, of which the assistant's contents are taken.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ID_KEYS = ("output_ids", "token_ids", "input_ids", "ids", "tokens")
TEXT_KEYS = ("text", "output", "completion", "response", "answer", "content")
TALK_KEYS = ("messages", "conversations", "conversation")
_ROLES, _SAYS = ("role", "from"), ("content", "value")
_SPEAKERS = frozenset({"assistant", "gpt", "model"})


@dataclass(frozen=True, slots=True)
class Transcript:
    """What the lines of a file hold."""

    counts: Mapping[int, int] = field(default_factory=dict)
    """Of the lines that are ids."""

    texts: tuple[str, ...] = ()
    lines: int = 0
    not_understood: int = 0
    first_not_understood: int | None = None
    """Its line, counted from 1."""


def read_transcript(lines: Iterable[str]) -> Transcript:
    """The ids and texts of a transcript; empty lines are nothing."""
    counts: Counter[int] = Counter()
    texts: list[str] = []
    number = seen = wrong = 0
    first: int | None = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        seen += 1
        ids, said = _read(line)
        counts.update(ids)
        texts += said
        if not ids and not said:
            wrong += 1
            first = number if first is None else first
    return Transcript(dict(counts), tuple(texts), seen, wrong, first)


def _read(line: str) -> tuple[list[int], list[str]]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return [], []
    if isinstance(found, dict):
        return _of_object(found)
    return _ids(found), [found] if isinstance(found, str) and found else []


def _of_object(found: dict[str, Any]) -> tuple[list[int], list[str]]:
    for key in ID_KEYS:
        if ids := _ids(found.get(key)):
            return ids, []
    for key in TALK_KEYS:
        if said := _said(found.get(key)):
            return [], said
    text = next((found[key] for key in TEXT_KEYS if isinstance(found.get(key), str)), "")
    return [], [text] if text else []


def _ids(value: Any) -> list[int]:
    is_ids = isinstance(value, list) and all(type(one) is int and one >= 0 for one in value)
    return value if is_ids else []


def _said(talk: Any) -> list[str]:
    turns = [turn for turn in talk if isinstance(turn, dict)] if isinstance(talk, list) else []
    return [
        text
        for turn in turns
        if any(turn.get(key) in _SPEAKERS for key in _ROLES)
        for key in _SAYS
        if isinstance(text := turn.get(key), str) and text
    ]
