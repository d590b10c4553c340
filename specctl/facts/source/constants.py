"""What an expression of a tree is worth, worked out without running any of it."""

from __future__ import annotations

import ast
import contextlib
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.facts.source.texts import imported_module

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specctl.facts.source.texts import Texts

DEPTH_MAX = 24
ITEMS_MAX = 5_000
BITS_MAX = 128

_NUMERIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}
_COPIES = frozenset({"list", "tuple", "set", "frozenset", "sorted"})


class UnresolvedError(Exception):
    """An expression whose value cannot be told from the texts alone."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an enumeration."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that matters only by being there, e.g. a class."""

    words: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Where names are looked up: a function's own, then its module's."""

    texts: Texts
    file: str
    function: ast.AST | None = None
    bound: Mapping[str, Any] = field(default_factory=dict)
    depth: int = 0

    def inside(self, file: str) -> Scope:
        """The scope of another module."""
        return Scope(self.texts, file, depth=self.depth + 1)


def value_of(node: ast.AST | None, scope: Scope) -> Any:
    """The value of `node`; raises UnresolvedError."""
    if node is None or scope.depth > DEPTH_MAX:
        raise UnresolvedError
    found = _READERS.get(type(node))
    if found is None:
        raise UnresolvedError
    try:
        return found(node, scope)
    except (ArithmeticError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UnresolvedError from error


def _constant(node: ast.Constant, scope: Scope) -> Any:
    del scope
    return node.value


def _sequence(node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> list[Any]:
    found: list[Any] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            found += _items(value_of(item.value, scope))
        else:
            found.append(value_of(item, scope))
    return _bounded(found)


def _dictionary(node: ast.Dict, scope: Scope) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            found |= dict(value_of(value, scope))
        else:
            known = isinstance(value, ast.Constant | ast.List | ast.Tuple)
            found[value_of(key, scope)] = _or_opaque(value, scope) if known else Opaque("")
    return found


def _or_opaque(node: ast.AST, scope: Scope) -> Any:
    try:
        return value_of(node, scope)
    except UnresolvedError:
        return Opaque(ast.unparse(node)[:80])


def _binary(node: ast.BinOp, scope: Scope) -> Any:
    left, right = value_of(node.left, scope), value_of(node.right, scope)
    if isinstance(node.op, ast.Add | ast.BitOr) and not isinstance(left, str | int | float):
        return _bounded([*_items(left), *_items(right)])
    if isinstance(left, str) and isinstance(right, str) and isinstance(node.op, ast.Add):
        return left + right
    numbers = (int, float)
    if not isinstance(left, numbers) or not isinstance(right, numbers):
        raise UnresolvedError
    if isinstance(node.op, ast.Pow | ast.LShift):
        return _raised(left, right, is_shift=isinstance(node.op, ast.LShift))
    return _sane(_NUMERIC[type(node.op)](left, right)) if type(node.op) in _NUMERIC else _no()


def _raised(left: float, right: float, *, is_shift: bool) -> Any:
    if abs(right) > BITS_MAX or not isinstance(right, int) or not isinstance(left, int):
        raise UnresolvedError
    if right < 0:
        raise UnresolvedError
    return _sane(_sane(left) << right if is_shift else _sane(left) ** right)


def _sane(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > BITS_MAX:
        raise UnresolvedError
    return value


def _no() -> Any:
    raise UnresolvedError


def _unary(node: ast.UnaryOp, scope: Scope) -> Any:
    value = value_of(node.operand, scope)
    if isinstance(node.op, ast.USub) and isinstance(value, int | float):
        return -value
    if isinstance(node.op, ast.Not) and isinstance(value, bool):
        return not value
    raise UnresolvedError


def _name(node: ast.Name, scope: Scope) -> Any:
    if node.id in scope.bound:
        return scope.bound[node.id]
    if scope.function is not None:
        local = assigned(scope.function, node.id)
        if local is not None:
            deeper = Scope(scope.texts, scope.file, scope.function, depth=scope.depth + 1)
            return value_of(local, deeper)
    return global_value(node.id, scope)


def global_value(name: str, scope: Scope) -> Any:
    """What a module calls `name`: a constant, an imported one, or a class."""
    module = scope.texts.module(scope.file)
    if module is None or scope.depth > DEPTH_MAX:
        raise UnresolvedError
    value = assigned(module, name)
    if value is not None:
        return value_of(value, scope.inside(scope.file))
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return (scope.file, node)
    return _from_imports(_imports(module, scope.function), name, scope)


def _from_imports(nodes: list[ast.ImportFrom], name: str, scope: Scope) -> Any:
    for node in nodes:
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                return _imported(node, alias.name, scope)
    for node in nodes:
        if any(alias.name == "*" for alias in node.names):
            with contextlib.suppress(UnresolvedError):
                return _imported(node, name, scope)
    raise UnresolvedError


def _imports(module: ast.Module, function: ast.AST | None) -> list[ast.ImportFrom]:
    places = [*(ast.walk(function) if function is not None else ()), *top_level(module.body)]
    return [node for node in places if isinstance(node, ast.ImportFrom)]


def _imported(node: ast.ImportFrom, name: str, scope: Scope) -> Any:
    file = scope.texts.file_of(imported_module(scope.file, node))
    if file is None or file == scope.file:
        raise UnresolvedError
    return global_value(name, scope.inside(file))


def top_level(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that a module runs when imported: those of its `if` and `try`, too."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, ast.If) and not _is_for_types(node.test):
            found += top_level([*node.body, *node.orelse])
        elif isinstance(node, ast.If):
            found += top_level(node.orelse)
        elif isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            found += top_level([*node.body, *handlers, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With):
            found += top_level(node.body)
    return found


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def assigned(place: ast.AST, name: str) -> ast.expr | None:
    """The expression that `place` (a module, class or function) last assigns to `name`."""
    body = getattr(place, "body", [])
    for node in reversed(top_level(body)):
        if isinstance(node, ast.Assign) and any(_is_name(t, name) for t in node.targets):
            return node.value
        if isinstance(node, ast.AnnAssign) and _is_name(node.target, name):
            return node.value
    return None


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _attribute(node: ast.Attribute, scope: Scope) -> Any:
    owner = value_of(node.value, scope)
    if isinstance(owner, Member):
        return owner.name if node.attr == "name" else owner.value if node.attr == "value" else _no()
    file, place = _class(owner)
    value = assigned(place, node.attr)
    if value is None:
        raise UnresolvedError
    if is_enumeration(place):
        return Member(node.attr, _or_opaque(value, scope.inside(file)))
    return value_of(value, _inside_class(scope, file, place))


def _inside_class(scope: Scope, file: str, place: ast.ClassDef) -> Scope:
    return Scope(scope.texts, file, place, depth=scope.depth + 1)


def _class(value: Any) -> tuple[str, ast.ClassDef]:
    match value:
        case (str(file), ast.ClassDef() as place):
            return file, place
    raise UnresolvedError


def is_enumeration(node: ast.ClassDef) -> bool:
    """One of its bases is called an enumeration."""
    return any(ast.unparse(base).rpartition(".")[2].endswith("Enum") for base in node.bases)


def member_names(node: ast.ClassDef) -> list[str]:
    """The members of an enumeration, in order."""
    found = []
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            found += [t.id for t in statement.targets if isinstance(t, ast.Name)]
    return [name for name in found if not name.startswith("_")]


def _items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return list(value)
    file, place = _class(value)
    del file
    if not is_enumeration(place):
        raise UnresolvedError
    return [Member(name, _plain(assigned(place, name))) for name in member_names(place)]


def _plain(node: ast.AST | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else Opaque("")


def _call(node: ast.Call, scope: Scope) -> Any:
    if isinstance(node.func, ast.Attribute):
        return _method(node, node.func, scope)
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _COPIES and len(node.args) == 1:
        return _bounded(list(_items(value_of(node.args[0], scope))))
    if name in _COPIES and not node.args:
        return []
    if node.args or node.keywords:
        raise UnresolvedError
    return _returned(value_of(node.func, scope), scope)


def _method(node: ast.Call, function: ast.Attribute, scope: Scope) -> Any:
    if node.args or node.keywords:
        raise UnresolvedError
    owner = value_of(function.value, scope)
    if isinstance(owner, dict) and function.attr in {"keys", "values"}:
        return list(owner.keys() if function.attr == "keys" else owner.values())
    if isinstance(owner, list) and function.attr == "copy":
        return list(owner)
    if isinstance(owner, str) and function.attr in {"lower", "upper", "strip"}:
        return getattr(owner, function.attr)()
    raise UnresolvedError


def _returned(value: Any, scope: Scope) -> Any:
    """What a function without parameters returns; its last return that can be told."""
    if not (isinstance(value, tuple) and isinstance(value[1], ast.FunctionDef)):
        raise UnresolvedError
    file, function = value
    inner = Scope(scope.texts, file, function, depth=scope.depth + 1)
    for node in reversed(list(ast.walk(function))):
        if isinstance(node, ast.Return):
            try:
                return value_of(node.value, inner)
            except UnresolvedError:
                continue
    raise UnresolvedError


def _comprehension(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> list[Any]:
    (each, *more) = node.generators
    if more or each.ifs or not isinstance(each.target, ast.Name):
        raise UnresolvedError
    found = []
    for item in _items(value_of(each.iter, scope)):
        bound = {**scope.bound, each.target.id: item}
        inner = Scope(scope.texts, scope.file, scope.function, bound, scope.depth + 1)
        found.append(value_of(node.elt, inner))
    return _bounded(found)


def _conditional(node: ast.IfExp, scope: Scope) -> Any:
    return value_of(node.body if value_of(node.test, scope) else node.orelse, scope)


def _bounded(found: list[Any]) -> list[Any]:
    if len(found) > ITEMS_MAX:
        raise UnresolvedError
    return found


_READERS: Mapping[type[ast.AST], Callable[[Any, Scope], Any]] = {
    ast.Constant: _constant,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.Dict: _dictionary,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.IfExp: _conditional,
}
