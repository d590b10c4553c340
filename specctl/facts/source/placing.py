"""A tree as it lies in one place: its version, commit and plugins there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.missing import Missing, Why
from specctl.facts.source.plugins import read_plugged
from specctl.facts.source.versions import fallback_version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.source import Tree
    from specctl.facts.source.answers import FoundPlace, Plugin


def placed(tree: Tree, place: FoundPlace, plugins: Sequence[Plugin]) -> Tree:
    """The tree that the same files make in another place."""
    algorithms, problems = read_plugged(plugins)
    own = {algorithm.name for algorithm in tree.algorithms}
    version = tree.version or fallback_version(place.metadata, place.described)
    missing = {name: why for name, why in tree.missing.items() if name != "version"}
    if version is None:
        missing["version"] = Missing(Why.NOT_SUPPORTED, "no file of the tree tells it")
    if place.commit is None and place.why_unknown is not None:
        missing["commit"] = Missing(Why.ERROR, place.why_unknown)
    return replace(
        tree,
        path=place.path,
        version=version,
        commit=place.commit_words,
        is_editable=place.how == "editable",
        algorithms=(*tree.algorithms, *(one for one in algorithms if one.name not in own)),
        problems=(*tree.problems, *problems),
        plugins=tuple(str(plugin) for plugin in plugins),
        missing=missing,
    )
