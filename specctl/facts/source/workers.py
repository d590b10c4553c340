"""Which class does the work of an algorithm, and which stand in for it."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.facts.source.algorithms import DECLARATIONS, algorithm_class
from specctl.facts.source.branches import walk
from specctl.facts.source.texts import imported_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.facts.source.algorithms import Declared
    from specctl.facts.source.branches import Chosen
    from specctl.facts.source.texts import Texts

SCHEDULER = "srt/managers/scheduler.py"
SWITCHES = "srt/environ.py"
_PACKAGE = "sglang.srt.speculative"
_OVERLAPS = re.compile(r"^\s*SGLANG_ENABLE_SPEC_V2\s*=\s*EnvBool\(True\)", re.MULTILINE)


def read_workers(texts: Texts, one: Declared, chosen: Chosen) -> tuple[str | None, tuple[str, ...]]:
    """The worker by default, as `FILE:CLASS`, and those that stand in for it under conditions."""
    usual = replace(chosen, assumed=_defaults(texts))
    possible = list(dict.fromkeys(_workers(texts, one, chosen)))
    if not possible:
        texts.report(one.place.file, one.place.line, f"the worker of {one.name} cannot be told")
        return None, ()
    main = next(iter(_workers(texts, one, usual)), possible[-1])
    return main, tuple(worker for worker in possible if worker != main)


def _defaults(texts: Texts) -> dict[str, bool]:
    """Whether the overlap schedule is on by default for a build that has workers with and without.

    It followed the switch SGLANG_ENABLE_SPEC_V2 (on from 0.5.11) while there were both.
    """
    overlaps = _OVERLAPS.search(texts.text(SWITCHES)) is not None
    return {"enable_overlap": overlaps, "disable_overlap_schedule": not overlaps}


def _workers(texts: Texts, one: Declared, chosen: Chosen) -> Iterator[str]:
    factory = _function(texts, one.factory) if one.factory else None
    creator = factory or _creator(texts)
    if creator is not None:
        yield from _imported(texts, DECLARATIONS, creator, replace(chosen, is_self=True))
        return
    module = texts.module(SCHEDULER)
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.FunctionDef):
            yield from _imported(texts, SCHEDULER, node, chosen)


def _imported(texts: Texts, file: str, function: ast.FunctionDef, chosen: Chosen) -> Iterator[str]:
    """The worker classes that a function imports on its way."""
    if not _mentions_workers(function):
        return
    for reached in walk(function.body, chosen):
        node = reached.node
        if isinstance(node, ast.ImportFrom) and _is_worker_module(node.module or ""):
            module = imported_module(file, node)
            place = texts.file_of(module) or module.partition(".")[2].replace(".", "/") + ".py"
            yield from (f"{place}:{alias.name}" for alias in node.names)


def _function(texts: Texts, name: str) -> ast.FunctionDef | None:
    module = texts.module(DECLARATIONS)
    for node in module.body if module is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None


def _creator(texts: Texts) -> ast.FunctionDef | None:
    place = algorithm_class(texts)
    for node in place.body if place is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == "create_worker":
            return node
    return None


def _mentions_workers(node: ast.FunctionDef) -> bool:
    return any(
        isinstance(inner, ast.ImportFrom) and _is_worker_module(inner.module or "")
        for inner in ast.walk(node)
    )


def _is_worker_module(module: str) -> bool:
    return module.startswith(_PACKAGE) and "worker" in module.rpartition(".")[2]
