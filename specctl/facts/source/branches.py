"""Which branches of the source are taken for one algorithm, as far as the algorithm decides it.

A test is true, false, or not told (it depends on other things: a device, another flag).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ALGORITHM_CLASS = "SpeculativeAlgorithm"
_NAMES = frozenset({"speculative_algorithm", "spec_algorithm", "algorithm", "spec_algo"})


class Test(NamedTuple):
    """A test on the way to a statement."""

    node: ast.expr
    wanted: bool
    """How it must come out."""

    is_guard: bool = False
    """It stands before, and raises when it comes out otherwise."""


Tests = tuple[Test, ...]
"""Outermost first."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SAME, _OTHER = (ast.Eq, ast.Is, ast.In), (ast.NotEq, ast.IsNot, ast.NotIn)
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


@dataclass(frozen=True, slots=True)
class Chosen:
    """One algorithm, with what its predicates answer."""

    name: str
    predicates: Mapping[str, bool] = field(default_factory=dict)
    """`is_eagle` and the like; only those that can be told."""

    flags: frozenset[str] = frozenset()
    """Of the registry: what it was registered with."""

    is_self: bool = False
    """`self` is the algorithm: inside the class itself."""

    assumed: Mapping[str, bool] | None = None
    """What other names are taken for, false where not named; None leaves them open."""


ANY = Chosen("*")
"""No algorithm in particular: every branch may be taken."""


def holds(test: ast.expr, chosen: Chosen) -> bool | None:
    """Whether a test is true for an algorithm; None where it depends on more."""
    found: bool | None = None
    match test:
        case _ if chosen is ANY:
            pass
        case ast.Constant(value=bool(value)):
            found = value
        case ast.BoolOp(op=op, values=values):
            found = _joined([holds(v, chosen) for v in values], is_and=isinstance(op, ast.And))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            inner = holds(operand, chosen)
            found = None if inner is None else not inner
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            found = _compared(left, op, right, chosen)
        case ast.Call():
            found = _called(test, chosen)
        case _:
            found = True if is_algorithm(test, chosen) else _assumed(test, chosen)
    return found


def _assumed(test: ast.expr, chosen: Chosen) -> bool | None:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    if chosen.assumed is None or not isinstance(name, str):
        return None
    return chosen.assumed.get(name, False)


def _joined(found: Sequence[bool | None], *, is_and: bool) -> bool | None:
    decisive = not is_and
    if decisive in found:
        return decisive
    return None if None in found else is_and


def _called(test: ast.Call, chosen: Chosen) -> bool | None:
    if not isinstance(test.func, ast.Attribute):
        return None
    if test.func.attr in {"_has_flag", "has_flag"} and len(test.args) == 1:
        (only,) = test.args
        if isinstance(only, ast.Constant) and isinstance(only.value, str):
            return only.value.upper() in chosen.flags
    if test.args or test.keywords:
        return None
    return chosen.predicates.get(test.func.attr)


def _compared(left: ast.expr, op: ast.cmpop, right: ast.expr, chosen: Chosen) -> bool | None:
    if is_algorithm(right, chosen) and not is_algorithm(left, chosen):
        left, right = right, left
    if not is_algorithm(left, chosen):
        return None
    names = _names(right)
    if names is None:
        return None
    is_among = chosen.name in names
    if isinstance(op, _SAME):
        return is_among
    return not is_among if isinstance(op, _OTHER) else None


def is_algorithm(node: ast.expr, chosen: Chosen) -> bool:
    """An expression that stands for the algorithm in use: `x.speculative_algorithm` and alike."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"upper", "lower", "strip"}:
            return is_algorithm(node.func.value, chosen)
        return node.func.attr == "from_string"
    if isinstance(node, ast.Attribute):
        return node.attr in _NAMES
    if isinstance(node, ast.Name):
        return node.id in _NAMES or (chosen.is_self and node.id == "self")
    return False


def _names(node: ast.expr) -> set[str] | None:
    """The algorithms that an expression lists; None, the value, is the empty name."""
    match node:
        case ast.Constant(value=None):
            return {"", "NONE"}
        case ast.Constant(value=str(value)):
            return {value.upper()}
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in {
            ALGORITHM_CLASS,
            "cls",
        }:
            return {name}
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            each = [_names(item) for item in items]
            return set().union(*(e for e in each if e)) if all(each) else None
    return None


def depends(test: ast.expr, chosen: Chosen) -> bool:
    """Whether some part of a test is about the algorithm."""
    nodes = [node for node in ast.walk(test) if isinstance(node, ast.expr)]
    return any(is_algorithm(node, chosen) or _asks(node, chosen) for node in nodes)


def _asks(node: ast.expr, chosen: Chosen) -> bool:
    is_method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return is_method and node.func.attr in chosen.predicates  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Reached:
    """A statement that may run for an algorithm."""

    node: ast.stmt
    tests: Tests
    is_certain: bool
    """The algorithm alone decides every one of them."""


def walk(
    body: Sequence[ast.stmt], chosen: Chosen, tests: Tests = (), *, is_certain: bool = True
) -> Iterator[Reached]:
    """The statements of a function's body that may run, in order; nested functions are not."""
    for node in body:
        if isinstance(node, _DEFINITIONS):
            continue
        if isinstance(node, ast.If):
            yield from _walk_if(node, chosen, tests, is_certain=is_certain)
            found = holds(node.test, chosen)
            if (found is True and leaves(node.body)) or (found is False and leaves(node.orelse)):
                return
            if found is None and leaves(node.body):
                is_guard = not leaves(node.body, raising=False)
                tests = (*tests, Test(node.test, wanted=False, is_guard=is_guard))
            continue
        yield Reached(node, tests, is_certain)
        for inner in _blocks(node):
            yield from walk(inner, chosen, tests, is_certain=is_certain)
        if isinstance(node, _EXITS):
            return


def _walk_if(node: ast.If, chosen: Chosen, tests: Tests, *, is_certain: bool) -> Iterator[Reached]:
    found = holds(node.test, chosen)
    sure = is_certain and found is not None
    if found is not False:
        yield from walk(node.body, chosen, (*tests, Test(node.test, wanted=True)), is_certain=sure)
    if found is not True:
        yield from walk(
            node.orelse, chosen, (*tests, Test(node.test, wanted=False)), is_certain=sure
        )


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a body and of the blocks, functions and classes inside it."""
    for node in body:
        yield node
        for inner in _blocks(node):
            yield from statements(inner)


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block
    for handler in getattr(node, "handlers", []):
        yield handler.body


def leaves(body: Sequence[ast.stmt], *, raising: bool = True) -> bool:
    """Nothing after this block runs; a block that raises counts unless told not to."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, ast.If):
        ends = (leaves(last.body, raising=raising), leaves(last.orelse, raising=raising))
        return bool(last.orelse) and all(ends)
    return isinstance(last, _EXITS) and (raising or not isinstance(last, ast.Raise))
