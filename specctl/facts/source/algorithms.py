"""The names of the algorithms that a tree offers, in each of the forms they are declared in."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.source import Place
from specctl.domain.text import clean
from specctl.facts.source.aliases import read_aliases
from specctl.facts.source.branches import ALGORITHM_CLASS, Chosen, holds, walk
from specctl.facts.source.constants import is_enumeration, member_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.facts.source.texts import Texts

DECLARATIONS = "srt/speculative/spec_info.py"
NONE = "NONE"
_REGISTERS = frozenset({"register_speculative_algorithm", "register", "register_algorithm"})


@dataclass(frozen=True, slots=True)
class Declared:
    """One algorithm as it is declared."""

    name: str
    place: Place
    aliases: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    factory: str | None = None
    """The function or class that makes its worker, where the declaration names it."""


def read_declared(texts: Texts) -> tuple[Declared, ...]:
    """The algorithms in the order of their declaration, without NONE."""
    module = texts.module(DECLARATIONS)
    if module is None:
        return ()
    place = algorithm_class(texts)
    if place is not None and is_enumeration(place):
        found = _members(place)
    else:
        found = [*registered(module, DECLARATIONS)]
    kept = tuple(one for one in found if one.name != NONE)
    if not kept:
        texts.report(
            DECLARATIONS,
            place.lineno if place is not None else None,
            "its algorithms are declared in a way that is not known",
        )
    more = read_aliases(texts, {one.name for one in kept})
    return tuple(_with(one, more) for one in kept)


def _with(one: Declared, more: Mapping[str, str]) -> Declared:
    own = (alias for alias, target in more.items() if target == one.name)
    return replace(one, aliases=tuple(dict.fromkeys((*one.aliases, *own))))


def algorithm_class(texts: Texts) -> ast.ClassDef | None:
    """The class `SpeculativeAlgorithm`."""
    module = texts.module(DECLARATIONS)
    for node in module.body if module is not None else ():
        if isinstance(node, ast.ClassDef) and node.name == ALGORITHM_CLASS:
            return node
    return None


def _members(place: ast.ClassDef) -> list[Declared]:
    lines = {
        target.id: node.lineno
        for node in place.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return [Declared(name, Place(DECLARATIONS, lines[name])) for name in member_names(place)]


def registered(module: ast.Module, file: str) -> Iterator[Declared]:
    """What the module-level calls and decorators of a file register."""
    for node in module.body:
        calls: list[ast.expr] = []
        if isinstance(node, ast.Expr | ast.Assign):
            calls = [node.value]
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            calls = node.decorator_list
        for call in calls:
            if isinstance(call, ast.Call) and _called(call) in _REGISTERS:
                found = registration(call, file)
                if found is not None:
                    yield found


def _called(call: ast.Call) -> str:
    node = call.func
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def registration(call: ast.Call, file: str) -> Declared | None:
    """What one call registers; None where its name is worked out."""
    said: dict[str, ast.expr] = {k.arg: k.value for k in call.keywords if k.arg is not None}
    name = call.args[0] if call.args else said.get("name")
    if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
        return None
    worker = said.get("worker_cls") or (call.args[1] if len(call.args) > 1 else None)
    return Declared(
        clean(name.value.upper()),
        Place(file, call.lineno),
        _texts(said.get("aliases")),
        frozenset(_texts(said.get("flags"))),
        worker.id if isinstance(worker, ast.Name) else None,
    )


def _texts(node: ast.expr | None) -> tuple[str, ...]:
    items = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    values = [item.value for item in items if isinstance(item, ast.Constant)]
    return tuple(clean(v.upper()) for v in values if isinstance(v, str))


def predicates_of(texts: Texts, one: Declared) -> Chosen:
    """What the methods of `SpeculativeAlgorithm` answer for one algorithm."""
    place = algorithm_class(texts)
    methods: Mapping[str, ast.FunctionDef] = {
        node.name: node
        for node in (place.body if place is not None else ())
        if isinstance(node, ast.FunctionDef) and len(node.args.args) == 1
    }
    known: dict[str, bool] = {}
    for _ in range(4):  # a predicate may ask others, those again
        chosen = Chosen(one.name, dict(known), one.flags or frozenset({one.name}), is_self=True)
        for name, method in methods.items():
            answer = _answer(method, chosen)
            if answer is not None:
                known[name] = answer
    return Chosen(one.name, known, one.flags or frozenset({one.name}))


def _answer(method: ast.FunctionDef, chosen: Chosen) -> bool | None:
    for reached in walk(method.body, chosen):
        if isinstance(reached.node, ast.Return):
            value = reached.node.value
            is_told = reached.is_certain and value is not None
            return holds(value, chosen) if is_told and value is not None else None
    return None
