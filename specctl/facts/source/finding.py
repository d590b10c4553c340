"""Finding the line of a tree that says something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.source import Place

if TYPE_CHECKING:
    from collections.abc import Mapping


def find_line(texts: Mapping[str, str], file: str, needle: str) -> Place | None:
    """The first line of `file` that holds `needle`; None where there is none."""
    text = texts.get(file)
    start = -1 if text is None else text.find(needle)
    if text is None or start < 0:
        return None
    return Place(file, text.count("\n", 0, start) + 1)
