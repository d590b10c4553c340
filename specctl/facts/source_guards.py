"""The condition under which a source raises a message, and what it compares."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def guard_of(module: ast.Module, message: str) -> ast.expr | None:
    """The test of the innermost `if` that raises a text beginning with `message`."""
    for node in ast.walk(module):
        if isinstance(node, ast.If):
            for statement in node.body:
                if isinstance(statement, ast.Raise) and message in _said(statement):
                    return node.test
    return None


def _said(statement: ast.Raise) -> str:
    """The literal parts of what is raised, values left out."""
    return "".join(
        node.value
        for node in ast.walk(statement)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def constants_of(module: ast.Module) -> Mapping[str, tuple[str, ...]]:
    """Every name that is given a tuple or list of texts, wherever in the module."""
    found: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple | ast.List | ast.Set):
            texts = tuple(_texts(node.value))
            for target in node.targets:
                if isinstance(target, ast.Name) and texts:
                    found[target.id] = texts
    return found


def strings_in(
    test: ast.expr, attribute: str, constants: Mapping[str, tuple[str, ...]]
) -> tuple[str, ...]:
    """The texts that an attribute is compared with, `startswith` included."""
    found: list[str] = []
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and _is_about(node.left, attribute):
            for other in node.comparators:
                named = constants.get(other.id, ()) if isinstance(other, ast.Name) else ()
                found += [*_texts(other), *named]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_start = node.func.attr == "startswith"
            if is_start and _is_about(node.func.value, attribute):
                found += [text for argument in node.args for text in _texts(argument)]
    return tuple(dict.fromkeys(found))


def _is_about(node: ast.expr, attribute: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == attribute


def _texts(node: ast.expr) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value
