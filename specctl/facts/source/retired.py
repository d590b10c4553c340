"""Flags on their way out, and the argparse actions that a tree defines for them."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from specctl.facts.source.constants import UnresolvedError, global_value

if TYPE_CHECKING:
    from specctl.facts.source.constants import Scope

_DEPRECATED = re.compile(r"\W*(?:note\W+\S+ is |this \w+ is )?deprecated\b", re.IGNORECASE)


def is_called_deprecated(words: str) -> bool:
    """A help text that begins by saying so."""
    return _DEPRECATED.match(words) is not None


def takes_no_value(action: str, scope: Scope) -> bool:
    """An action class of the tree that is made with `nargs=0`."""
    if not action.isidentifier():
        return False
    try:
        found = global_value(action, scope)
    except UnresolvedError:
        return False
    if not (isinstance(found, tuple) and isinstance(found[1], ast.ClassDef)):
        return False
    return any(_has_nargs_0(node) for node in ast.walk(found[1]))


def _has_nargs_0(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef) and node.name == "__init__":
        named = [*node.args.args[-len(node.args.defaults) :], *node.args.kwonlyargs]
        values = [*node.args.defaults, *node.args.kw_defaults]
        return any(
            argument.arg == "nargs" and isinstance(value, ast.Constant) and value.value == 0
            for argument, value in zip(named, values, strict=False)
        )
    return isinstance(node, ast.keyword) and node.arg == "nargs" and _is_0(node.value)


def _is_0(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0
