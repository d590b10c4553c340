"""What a search of a tree sends back, as the screen shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import UsageError
from specctl.domain.source import Place
from specctl.domain.text import clean
from specctl.tui.reading import Hit

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_HITS = 2000


def check_pattern(text: str) -> None:
    """Raises UsageError for what is no regular expression, before a host is asked."""
    try:
        re.compile(text)
    except re.error as error:
        raise UsageError(
            f"{text!r} is no regular expression: {error}", hint=r"\( \[ \. \* mean the characters."
        ) from error


def hit_of(item: Mapping[str, Any]) -> Hit:
    """One match, its text made safe to show."""
    line = item.get("line")
    place = Place(clean(str(item.get("file"))), line if isinstance(line, int) else None)
    return Hit(place, clean(str(item.get("text"))))


def cut_words(end: Mapping[str, Any]) -> str:
    """What of the matches is not here; empty when all are."""
    truncated, at = clean(str(end.get("truncated") or "")), clean(str(end.get("at") or ""))
    if not truncated:
        return ""
    if truncated == "time":
        return f"ended for time in {at}"
    return f"the first {MOST_HITS:,}"
