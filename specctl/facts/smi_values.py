"""Single cells of nvidia-smi: a number with its unit, or one of the many words for no value."""

from __future__ import annotations

import re

from specctl.domain.missing import Missing, Why
from specctl.domain.text import clean


class SmiTextError(ValueError):
    """A text that is not nvidia-smi's."""


NO_VALUE = {
    "n/a": Missing(Why.NOT_SUPPORTED),
    "not supported": Missing(Why.NOT_SUPPORTED),
    "requested functionality has been deprecated": Missing(
        Why.NOT_SUPPORTED, "withdrawn by this driver"
    ),
    "insufficient permissions": Missing(Why.NO_PERMISSION),
    "unknown error": Missing(Why.ERROR, "nvidia-smi says Unknown Error"),
    "unknown": Missing(Why.ERROR, "nvidia-smi says Unknown"),
    "err!": Missing(Why.ERROR, "nvidia-smi says ERR!"),
    "gpu requires reset": Missing(Why.ERROR, "the GPU requires a reset"),
    "reset required": Missing(Why.ERROR, "the GPU requires a reset"),
    "gpu is lost": Missing(Why.LOST, "the GPU fell off the bus"),
    "not found": Missing(Why.NOT_SUPPORTED),
    "": Missing(Why.MALFORMED, "empty"),
}
"""What drivers from R390 to R590 print instead of a value, in brackets or without."""

_NUMBER = re.compile(r"(-?\d{1,18}(?:\.\d{1,6})?)\s*(?:MiB|W|%|MHz|C|x)?")
_DETAIL_CHARACTERS = 40


def read_number(cell: str) -> float | Missing:
    """The number of a cell without its unit, or why there is none."""
    token = cell.strip()
    known = no_value(token)
    if known is not None:
        return known
    match = _NUMBER.fullmatch(token)
    if match is None:
        return Missing(Why.MALFORMED, f"not a number: {clean(token)[:_DETAIL_CHARACTERS]}")
    return float(match[1])


def read_word(cell: str) -> str | Missing:
    """A cell that holds a word, or why it holds none."""
    return no_value(cell) or clean(cell.strip())


def no_value(cell: str) -> Missing | None:
    """What a word for no value means; None for anything else."""
    token = cell.strip().casefold()
    if token.startswith("[") and token.endswith("]"):
        token = token[1:-1].strip()
    return NO_VALUE.get(token)


def read_switch(cell: str) -> bool | Missing:
    """`Enabled` or `Disabled`, `On` or `Off`."""
    word = read_word(cell)
    if isinstance(word, Missing):
        return word
    known = {"enabled": True, "on": True, "disabled": False, "off": False}
    found = known.get(word.casefold())
    return (
        Missing(Why.MALFORMED, f"not a switch: {word[:_DETAIL_CHARACTERS]}")
        if (found is None)
        else found
    )
