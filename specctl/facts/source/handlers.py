"""The functions of a tree that handle the server's arguments, walked once each."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.facts.source.algorithms import DECLARATIONS
from specctl.facts.source.branches import ANY, walk
from specctl.facts.source.effects import Effect, effects_of
from specctl.facts.source.texts import MENTION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.facts.source.branches import Tests
    from specctl.facts.source.texts import Texts

ARGUMENTS = "srt/server_args.py"
HANDLERS = "srt/arg_groups/"
_PARTS = (ast.expr, ast.keyword)
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_DECLARING = frozenset({"create_worker", "handle_server_args"})
"""Of the declarations' own functions those whose refusals an operator meets."""


@dataclass
class Function:
    """One function that handles arguments."""

    name: str
    file: str
    effects: list[tuple[Effect, Tests]] = field(default_factory=list)
    calls: list[tuple[str, Tests]] = field(default_factory=list)


def read_functions(texts: Texts, fields: frozenset[str]) -> list[Function]:
    """The functions of the files that mention speculation."""
    files = (ARGUMENTS, DECLARATIONS, *texts.below(HANDLERS))
    nodes = [
        (file, node)
        for file in files
        if MENTION in texts.text(file) and (module := texts.module(file)) is not None
        for node in _definitions(module)
        if file != DECLARATIONS or node.name in _DECLARING
    ]
    names = frozenset(node.name for _, node in nodes)
    lines = {file: texts.text(file).split("\n") for file in files}
    return [
        _function(file, node, fields, _mentioned(lines[file], node, names)) for file, node in nodes
    ]


def _mentioned(lines: list[str], node: ast.FunctionDef, names: frozenset[str]) -> frozenset[str]:
    """Which of `names` stand in a function's text: in most none does, and its tree is not asked."""
    text = "\n".join(lines[node.lineno : node.end_lineno])
    return names.intersection(_WORD.findall(text))


def _function(
    file: str, node: ast.FunctionDef, fields: frozenset[str], names: frozenset[str]
) -> Function:
    function = Function(node.name, file)
    for reached in walk(node.body, ANY):
        effects = effects_of(reached.node, fields)
        function.effects += [(effect, reached.tests) for effect in effects]
        if names:
            function.calls += [(name, reached.tests) for name in _called(reached.node, names)]
    return function


def _definitions(module: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            yield node
        elif isinstance(node, ast.ClassDef):
            yield from (inner for inner in node.body if isinstance(inner, ast.FunctionDef))


def _called(node: ast.stmt, names: frozenset[str]) -> Iterator[str]:
    """Which of `names` one statement mentions, called or handed on; not those of its blocks."""
    todo = _expressions(node)
    while todo:
        inner = todo.pop()
        name = getattr(inner, "id", None) or getattr(inner, "attr", None)
        if name in names:
            yield str(name)
        todo += _expressions(inner)


def _expressions(node: ast.AST) -> list[ast.AST]:
    """Its direct parts that are no statements; ast.walk takes twice as long."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        parts = value if isinstance(value, list) else (value,)
        found += [part for part in parts if isinstance(part, _PARTS)]
    return found
