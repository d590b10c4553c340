"""Names that stand for another algorithm, e.g. NEXTN for EAGLE."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specctl.facts.source.branches import Chosen, is_algorithm, statements
from specctl.facts.source.constants import Scope, UnresolvedError, assigned, value_of

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from specctl.facts.source.texts import Texts

HANDLERS = ("srt/server_args.py", "srt/arg_groups/speculative_hook.py")
REGISTRY = "srt/speculative/spec_registry.py"
RESERVED = "_RESERVED_ALIASES"
_ANY = Chosen("")


def read_aliases(texts: Texts, names: AbstractSet[str]) -> dict[str, str]:
    """Alias to the algorithm it stands for; a reserved one that stands for none is reported."""
    found: dict[str, str] = {}
    for file in HANDLERS:
        module = texts.module(file)
        for node in statements(module.body if module is not None else []):
            if isinstance(node, ast.If) and (target := _becomes(node.body)) in names:
                aliases = (alias for alias in _compared(node.test) if alias not in names)
                found |= {alias: str(target) for alias in aliases if alias not in found}
    for alias in _reserved(texts):
        if alias not in found:
            texts.report(REGISTRY, None, f"what {alias} stands for cannot be told")
    return found


def _compared(test: ast.expr) -> list[str]:
    """`"X"` of `speculative_algorithm == "X"`, also where several are joined by `or`."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return [name for value in values for name in _compared(value)]
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[ast.Constant(value=str(value))]):
            return [value.upper()] if is_algorithm(left, _ANY) else []
    return []


def _becomes(body: list[ast.stmt]) -> str | None:
    """What a block assigns to the algorithm, or returns at its end."""
    for node in body:
        match node:
            case ast.Assign(
                targets=[ast.Attribute(attr="speculative_algorithm")],
                value=ast.Constant(value=str(value)),
            ):
                return value.upper()
    match body[-1]:
        case ast.Return(value=ast.Constant(value=str(value))):
            return value.upper()
    return None


def _reserved(texts: Texts) -> list[str]:
    """The spellings that plugins may not take."""
    module = texts.module(REGISTRY)
    node = assigned(module, RESERVED) if module is not None else None
    try:
        value = value_of(node, Scope(texts, REGISTRY))
    except UnresolvedError:
        return []
    return [str(alias).upper() for alias in value] if isinstance(value, list) else []
