"""A tree back from its JSON form, which `domain.plain` made."""

from __future__ import annotations

from typing import Any

from specctl.domain.missing import Missing, Why
from specctl.domain.source import (
    Algorithm,
    Flag,
    Place,
    ReadingProblem,
    Restriction,
    Tree,
    TreeFile,
)


def tree_of(value: Any) -> Tree | None:
    """The tree; None for what is none."""
    try:
        return _tree(dict(value))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _tree(value: dict[str, Any]) -> Tree:
    value["algorithms"] = tuple(_algorithm(row) for row in value["algorithms"])
    value["flags"] = tuple(_flag(row) for row in value["flags"])
    value["problems"] = tuple(
        ReadingProblem(Place(**row["place"]), row["words"]) for row in value["problems"]
    )
    value["files"] = {name: TreeFile(**row) for name, row in value["files"].items()}
    value["edited"] = None if value["edited"] is None else tuple(value["edited"])
    value["plugins"] = tuple(value["plugins"])
    value["missing"] = {name: _missing(words) for name, words in value["missing"].items()}
    return Tree(**value)


def _algorithm(row: dict[str, Any]) -> Algorithm:
    for name in ("aliases", "other_workers", "files", "draft_architectures"):
        row[name] = tuple(row[name])
    row["restrictions"] = tuple(
        Restriction(**{**one, "place": Place(**one["place"])}) for one in row["restrictions"]
    )
    row["place"] = Place(**row["place"]) if row["place"] is not None else None
    return Algorithm(**row)


def _flag(row: dict[str, Any]) -> Flag:
    for name in ("aliases", "negations"):
        row[name] = tuple(row[name])
    row["choices"] = tuple(row["choices"]) if row["choices"] is not None else None
    return Flag(**{**row, "place": Place(**row["place"])})


def _missing(words: str) -> Missing:
    why, _, detail = words.partition(": ")
    return Missing(Why(why), detail)
