"""Private keys in PEM over several lines: which lines of a text belong to one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.facts.redact import MASK, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?!.*-----END)", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]{1,76}={0,2}")
_WORD = re.compile(r"[A-Z]?[a-z]*")
_HEADER = re.compile(r"(?:Proc-Type|DEK-Info):.*|", re.IGNORECASE)
SHORTEST = 8
"""Of a last line whose block was not seen to begin; `Killed` and its like are no such line."""


class KeyBlocks:
    """Masks, line after line, those of a key that `redact_text` could not know without context.

    The last line of a key is as short as its rest, and has no `=` where the rest fills it.
    """

    def __init__(self) -> None:
        self._is_begun = self._is_inside = False

    def mask(self, line: str) -> str:
        """The next line, which was redacted by itself."""
        bare = line.strip()
        if _BEGIN.search(line):
            self._is_begun = self._is_inside = True
        elif bare == MASK:
            self._is_inside = True
        elif self._is_inside and self._is_of_key(bare):
            return MASK
        elif not (self._is_begun and _HEADER.fullmatch(bare)):
            self._is_begun = self._is_inside = False
        return line

    def _is_of_key(self, bare: str) -> bool:
        if _BASE64.fullmatch(bare) is None:
            return False
        return self._is_begun or (len(bare) >= SHORTEST and _WORD.fullmatch(bare) is None)


def redact_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines of one text, in their order, with every secret masked."""
    blocks = KeyBlocks()
    return (blocks.mask(redact_text(line)) for line in lines)
