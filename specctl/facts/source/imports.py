"""The modules that a file imports when it is imported itself.

By its syntax tree, or, ten times as fast, by its lines. Lines are enough for a file that is as it
was released; one that was edited may be no Python at all, which only a parser notices.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from specctl.facts.source.constants import top_level
from specctl.facts.source.texts import imported_module

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLOCK = re.compile(
    r"^(?:if|elif|else|try|except|finally|with)\b([^\n]*)\n"
    r"((?:[ \t]+[^\n]*\n|[ \t]*\n|\)[^\n]*\n)*)",
    re.MULTILINE,
)
"""A block at the left margin: its head, and what is indented below it."""

_IMPORT = re.compile(
    r"^[ \t]*(from[ \t]+[.\w]+[ \t]+import[ \t]+(?:\([^)]*\)|[^\n(]+)|import[ \t]+[^\n]+)",
    re.MULTILINE,
)
_AT_MARGIN = re.compile(
    r"^(from[ \t]+[.\w]+[ \t]+import[ \t]+(?:\([^)]*\)|[^\n(]+)|import[ \t]+[^\n]+)", re.MULTILINE
)
_NESTED = re.compile(r"^[ \t]+(?:def|class|async)\b", re.MULTILINE)


def imports_in(module: ast.Module, file: str) -> Iterator[str]:
    """By the syntax tree: those at the margin, and those in its `if` and `try` blocks."""
    for node in top_level(module.body):
        yield from _modules(file, node)


def imports_of_lines(text: str, file: str) -> Iterator[str]:
    """The same by the lines of a file that is known to be sound."""
    statements = _AT_MARGIN.findall(text)
    for head, body in _BLOCK.findall(text):
        if "TYPE_CHECKING" not in head:
            outside = _NESTED.split(body, maxsplit=1)[0]
            statements += _IMPORT.findall(outside)
    for statement in statements:
        try:
            (node,) = ast.parse(statement).body
        except (SyntaxError, ValueError):
            continue
        yield from _modules(file, node)


def _modules(file: str, node: ast.stmt) -> list[str]:
    """The modules that one statement may import: `from a import b` may mean `a` or `a.b`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    module = imported_module(file, node)
    return [module, *(f"{module}.{alias.name}" for alias in node.names)]
