"""The known word closest to one that is not known."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """The word of `known` most like `word`, ignoring case and kind of dash; empty when none is."""
    by_form: dict[str, str] = {}
    for candidate in known:
        by_form.setdefault(_form(candidate), candidate)
    form = _form(word)
    close = get_close_matches(form, by_form, n=1, cutoff=0.6)
    if not close:
        close = sorted((known for known in by_form if _is_part(form, known)), key=len)[:1]
    return by_form[close[0]] if close else ""


def _form(word: str) -> str:
    return word.lstrip("-").replace("_", "-").lower()


def _is_part(form: str, known: str) -> bool:
    """One is an end or beginning of the other, a slip that similarity alone underrates."""
    short, long = sorted((form, known), key=len)
    return len(short) > 1 and (long.startswith(short) or long.endswith(f"-{short}"))
