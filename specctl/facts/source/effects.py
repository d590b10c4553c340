"""What one statement does to the arguments: refuse, assert, warn, or set one of them."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.text import clean
from specctl.facts.source.flag_values import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_WARNINGS = frozenset({"warning", "warn", "warning_once", "error"})
_SETTERS = frozenset({"declare_resolution", "declare_override", "override"})
_SUBJECTS = frozenset({"self", "server_args", "args", "cfg", "view"})
WORDS_MAX = 600


@dataclass(frozen=True, slots=True)
class Effect:
    """What a statement does."""

    kind: str
    """`refused`, `asserted`, `warned` or `rewritten`."""

    words: str
    line: int
    test: ast.expr | None = None
    """What an assertion asserts."""


def effects_of(node: ast.stmt, fields: frozenset[str]) -> Iterator[Effect]:
    """The effects of one statement; `fields` are the arguments whose setting counts."""
    if isinstance(node, ast.Raise):
        words = _raised(node.exc)
        if not words.startswith("Unreachable"):
            yield Effect("refused", words, node.lineno)
    elif isinstance(node, ast.Assert):
        words = _text(node.msg) if node.msg is not None else f"assert {words_of(node.test)}"
        yield Effect("asserted", words, node.lineno, node.test)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield from _of_call(node.value, fields)
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _set(target, node.value, fields)


def _raised(node: ast.expr | None) -> str:
    if isinstance(node, ast.Call) and node.args:
        return _text(node.args[0])
    return words_of(node) if node is not None else "raised again"


def _of_call(call: ast.Call, fields: frozenset[str]) -> Iterator[Effect]:
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    if name in _WARNINGS and isinstance(call.func, ast.Attribute) and call.args:
        if "log" in words_of(call.func.value).lower() or name == "warn":
            yield Effect("warned", _formatted(call.args), call.lineno)
    elif name in _SETTERS:
        for keyword in call.keywords:
            if keyword.arg in fields:
                words = f"{keyword.arg} = {words_of(keyword.value)}"
                yield Effect("rewritten", words, call.lineno)


def _set(target: ast.expr, value: ast.expr, fields: frozenset[str]) -> Iterator[Effect]:
    if isinstance(target, ast.Tuple):
        for item in target.elts:
            yield from _set(item, value, fields)
    elif isinstance(target, ast.Attribute) and target.attr in fields and _is_record(target):
        yield Effect("rewritten", f"{target.attr} = {words_of(value)}", target.lineno)


def _is_record(target: ast.Attribute) -> bool:
    return isinstance(target.value, ast.Name) and target.value.id in _SUBJECTS


def _formatted(arguments: list[ast.expr]) -> str:
    """A logger's words with what is put in for each `%s`."""
    words = _text(arguments[0])
    for argument in arguments[1:]:
        words = words.replace("%s", "{" + words_of(argument) + "}", 1)
        words = words.replace("%d", "{" + words_of(argument) + "}", 1)
    return words


def _text(node: ast.expr) -> str:
    """A message: fixed parts as they are, expressions in braces."""
    return clean(_raw(node))[:WORDS_MAX]


def _raw(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(_raw(value) for value in values)
        case ast.FormattedValue(value=value):
            return "{" + words_of(value).removeprefix("self.") + "}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _raw(left) + _raw(right)
    return "{" + words_of(node) + "}"
