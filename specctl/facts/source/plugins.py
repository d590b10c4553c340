"""Algorithms that plugins of an environment register, as their own source says it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specctl.domain.source import Algorithm, Place, ReadingProblem
from specctl.facts.source.algorithms import registration
from specctl.facts.source.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.facts.source.answers import Plugin


def read_plugged(
    plugins: Sequence[Plugin],
) -> tuple[tuple[Algorithm, ...], tuple[ReadingProblem, ...]]:
    """What plugins register, wherever in their files; and what of them could not be read.

    Files are named `DISTRIBUTION/FILE`. A name that is worked out when it runs is a problem.
    """
    found: dict[str, Algorithm] = {}
    problems: list[ReadingProblem] = []
    for plugin in plugins:
        texts = Texts({f"{plugin.distribution}/{f}": text for f, text in plugin.texts.items()})
        for file in texts:
            for name, place in _registered(texts, file):
                found.setdefault(name, Algorithm(name, plugin=plugin.distribution, place=place))
        problems += texts.problems
    return tuple(found.values()), tuple(problems)


def _registered(texts: Texts, file: str) -> list[tuple[str, Place]]:
    module = texts.module(file)
    found = []
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.Call) and _is_registration(node):
            one = registration(node, file)
            if one is None:
                texts.report(file, node.lineno, "registers an algorithm whose name is worked out")
            else:
                found.append((one.name, one.place))
    return found


def _is_registration(node: ast.Call) -> bool:
    match node.func:
        case ast.Attribute(value=ast.Name(id="SpeculativeAlgorithm"), attr="register"):
            return True
        case ast.Name(id="register_speculative_algorithm" | "register_algorithm"):
            return True
    return False
