"""What an engine made of a command line, and what the agent saw of its tree, for drift."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from specctl.domain.arguments import takes_nothing
from specctl.domain.drift import BuildNow, Rewrite, options_of
from specctl.domain.text import clean, shorten
from specctl.facts.differences import differences
from specctl.facts.numbers import fraction_of
from specctl.facts.readings import mapping, read_text, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCES = r"\.(?:py|pyi|cpp|cc|cu|cuh|h|hpp|hip|proto|rs)$"
"""Files of a tree whose change makes another build of it."""

SKIPPED = ("__pycache__", "node_modules", "test")
SHOWN_CELLS = 120
_THRESHOLDS = ("speculative_accept_threshold_single", "speculative_accept_threshold_acc")
_AT_RUN_TIME = "the server's accept thresholds can be set while it runs"


def find_rewrites(
    argv: Sequence[str], resolved: Mapping[str, Any], rules: Mapping[str, str] | None = None
) -> tuple[Rewrite, ...]:
    """Arguments of a command line that the engine resolved to something else.

    `rules` are words by flag, without dashes, for those whose cause is known better.
    """
    asked = {
        flag: _value(flag, values, resolved.get(flag.replace("-", "_")))
        for flag, values in options_of(argv).items()
        if flag != "config"
    }
    rules = rules or {}
    found = [
        Rewrite(
            one.key,
            _text(one.asked),
            _text(one.got),
            rules.get(one.key) or one.cause,
            is_at_run_time=one.key.replace("-", "_") in _THRESHOLDS,
        )
        for one in differences(asked, resolved)
    ]
    return (*found, *_thresholds(asked, resolved))


def _thresholds(asked: Mapping[str, Any], resolved: Mapping[str, Any]) -> list[Rewrite]:
    """Set while it runs though nobody asked for them at the start; 1.0 is what they begin with."""
    return [
        Rewrite(name.replace("_", "-"), "1.0", _text(resolved[name]), _AT_RUN_TIME, True)  # noqa: FBT003
        for name in _THRESHOLDS
        if name.replace("_", "-") not in asked and fraction_of(resolved.get(name, 1.0)) != 1.0
    ]


def _value(flag: str, values: tuple[str, ...], got: Any) -> Any:
    """A command line's words in the form in which the engine reports the argument."""
    if not values and (takes_nothing(flag) or isinstance(got, bool)):
        return True
    if isinstance(got, dict) and len(values) == 1:
        return _json(values[0])
    return values if isinstance(got, list) else (values[-1] if values else "")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if value is None:
        return "none"
    if isinstance(value, tuple | list | dict):
        words = json.dumps(value, default=str) if isinstance(value, dict) else _joined(value)
        return shorten(clean(words), SHOWN_CELLS)
    return shorten(clean(str(value)), SHOWN_CELLS)


def _joined(values: Sequence[Any]) -> str:
    return " ".join(str(value) for value in values)


def read_build(answer: Mapping[str, Any]) -> BuildNow:
    """The agent's answer about an installed tree."""
    found = mapping(answer)
    examples = found.get("examples")
    return BuildNow(
        path=read_text(found.get("path")),
        version=read_text(found.get("version")) or None,
        changed_files=whole(found.get("changed")) or 0,
        examples=tuple(read_text(one) for one in examples) if isinstance(examples, list) else (),
    )
