"""What the source of a class says beyond what Python keeps at run time.

A docstring below a field is gone once compiled, and what a module imports for type checkers only
is never imported: both are read from the source.
"""

from __future__ import annotations

import ast
import inspect
import sys
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType


@dataclass(frozen=True, slots=True)
class Words:
    """A class and its fields, as their docstrings have it."""

    summary: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


def words_of(kind: type[Any]) -> Words:
    """The docstrings of a class of this package; empty where nothing is written."""
    return _module_words(sys.modules[kind.__module__]).get(kind.__name__, Words())


@cache
def names_of(module: ModuleType) -> Mapping[str, Any]:
    """Every name that annotations of `module` may use, those for type checkers included."""
    names: dict[str, Any] = {}
    for node in _tree(module).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                if isinstance(statement, ast.ImportFrom):
                    source = import_module(str(statement.module))
                    names.update(
                        {n.asname or n.name: getattr(source, n.name) for n in statement.names}
                    )
    return {**names, **vars(module)}


@cache
def _module_words(module: ModuleType) -> Mapping[str, Words]:
    return {
        node.name: Words(_cleaned(ast.get_docstring(node)), dict(_field_words(node)))
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ClassDef)
    }


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


def _field_words(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """A string right below `NAME: type` or `NAME = value` describes it (PEP 257)."""
    for statement, following in zip(node.body, node.body[1:], strict=False):
        match statement, following:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, _cleaned(text)


def _cleaned(text: str | None) -> str:
    return inspect.cleandoc(text or "")
