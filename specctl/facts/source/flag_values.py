"""Defaults, choices and types of flags as values, whatever way they are declared."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from specctl.domain.text import clean
from specctl.facts.source.constants import Member, Opaque, Scope, UnresolvedError, value_of

if TYPE_CHECKING:
    from specctl.facts.source.texts import Texts

Default = str | int | float | bool | None
WORDS_MAX = 300
_TYPES = {"json.loads": "json", "json_list_type": "json"}
_NO_TYPE = frozenset({"Optional", "Union", "List", "list", "Literal", "Dict", "dict"})


def words_of(node: ast.AST) -> str:
    """An expression as source text on one line."""
    return clean(ast.unparse(node))[:WORDS_MAX]


def default_of(node: ast.expr | None, scope: Scope) -> Default:
    """A default as a value; its source text where it is an expression."""
    if node is None or words_of(node).endswith("SUPPRESS"):
        return None
    made = _factory(node)
    if made is not None:
        node = made
    try:
        value = value_of(node, scope)
    except UnresolvedError:
        return words_of(node)
    return _scalar(value, node)


def _scalar(value: Any, node: ast.expr) -> Default:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Member):
        value = value.value
        return value if isinstance(value, str | int | float) else words_of(node)
    if isinstance(value, list) and all(isinstance(v, str | int | float) for v in value):
        return str(value)[:WORDS_MAX]
    return words_of(node)


def _factory(node: ast.expr) -> ast.expr | None:
    """The expression in `field(default_factory=lambda: …)`, or in `field(default=…)`."""
    if not (isinstance(node, ast.Call) and words_of(node.func).rpartition(".")[2] == "field"):
        return None
    for keyword in node.keywords:
        if keyword.arg == "default":
            return keyword.value
        if keyword.arg == "default_factory" and isinstance(keyword.value, ast.Lambda):
            return keyword.value.body
        if keyword.arg == "default_factory":
            return ast.Call(keyword.value, [], [])
    return None


def choices_of(
    node: ast.expr | None, scope: Scope, flag: str, texts: Texts
) -> tuple[str, ...] | None:
    """Choices as the command line spells them; what cannot be told is reported."""
    if node is None:
        return None
    try:
        value = value_of(node, scope)
        items = list(value) if isinstance(value, list | dict) else None
    except UnresolvedError:
        items = None
    if items is None:
        texts.report(
            scope.file, node.lineno, f"the choices of {flag} cannot be told: {words_of(node)}"
        )
        return None
    return tuple(_spelling(item) for item in items if item is not None)


def _spelling(item: Any) -> str:
    if isinstance(item, Member):
        item = item.value if isinstance(item.value, str) else item.name
    return item.words if isinstance(item, Opaque) else str(item)


def text_of(node: ast.expr | None, scope: Scope) -> str:
    """A help text: of an f-string its fixed parts, expressions in braces."""
    if node is None:
        return ""
    if isinstance(node, ast.JoinedStr):
        return clean("".join(_part(part) for part in node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return text_of(node.left, scope) + text_of(node.right, scope)
    try:
        value = value_of(node, scope)
    except UnresolvedError:
        return ""
    return clean(value) if isinstance(value, str) else ""


def _part(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    inner = part.value if isinstance(part, ast.FormattedValue) else part
    return "{" + words_of(inner) + "}"


def type_name(node: ast.expr | None) -> str | None:
    """What a `type=` converter or an annotation is called, e.g. `int`, `json` or `nullable_str`."""
    if node is None:
        return None
    words = words_of(node)
    return _TYPES.get(words) or words.rpartition(".")[2]


def unwrap_optional(node: ast.expr) -> ast.expr:
    """The `X` of `Optional[X]`, `Union[X, None]` and `X | None`."""
    options = _options(node)
    if options is None:
        return node
    kept = [option for option in options if not _is_none(option)]
    return kept[0] if len(kept) == 1 else node


def _options(node: ast.expr) -> list[ast.expr] | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        left = _options(node.left) or [node.left]
        return [*left, node.right]
    name, inner = subscript(node)
    if name == "Optional":
        return inner
    return inner if name == "Union" else None


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def subscript(node: ast.expr) -> tuple[str, list[ast.expr]]:
    """`X` and `[a, b]` of `X[a, b]`; an empty name for anything else."""
    if not isinstance(node, ast.Subscript):
        return "", []
    name = words_of(node.value).rpartition(".")[2]
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return name, list(inner)
