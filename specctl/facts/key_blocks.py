"""Private keys in PEM over several lines: which lines of a text belong to one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from specctl.facts.redact import MASK, redact_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?!.*-----END)", re.IGNORECASE)
_BODY = r"(?P<word>[A-Za-z0-9+/]{1,76}={0,2}|={1,2})"
_BARE = re.compile(rf"(?P<before>\s*){_BODY}\s*$")
_MASKED = re.compile(
    rf"""(?P<before>(?:[^*]{{0,200}}[\s"'|>\]])?){re.escape(MASK)}(?=\s*$|["'\\])"""
)
"""A line of a key behind what each line of the text begins with; a value of a setting, too."""

_CHANGING = re.compile(r"\d+|\s+")
_PREFIX_CHARACTERS_MOST = 200
_WORD = re.compile(r"[A-Z]?[a-z]*")
_HEADER = re.compile(
    r"""(?:.{0,200}[\s"'|>\]])?(?:Proc-Type|DEK-Info):.*|\s*""", re.IGNORECASE | re.DOTALL
)
SHORTEST = 8
"""Of a last line whose block was not seen to begin; `Killed` and its like are no such line."""


class KeyBlocks:
    """Masks, line after line, those of a key that `redact_text` could not know without context.

    The last line of a key is as short as its rest, and has no `=` where the rest fills it. Each may
    stand behind what the first one stands behind, with other numbers in it: the time of a log.
    """

    def __init__(self) -> None:
        self._is_begun = self._is_inside = False
        self._behind = _BARE

    def mask(self, line: str) -> str:
        """The next line, which was redacted by itself."""
        if begin := _BEGIN.search(line):
            self._is_begun = self._is_inside = True
            self._behind = _behind(line[: begin.start()])
        elif masked := _MASKED.match(line):
            self._is_inside = True
            self._behind = _behind(masked["before"])
        elif self._is_inside and (place := self._place_of_key(line)):
            return line[: place.start("word")] + MASK + line[place.end("word") :]
        elif not (self._is_begun and _HEADER.fullmatch(line)):
            self._is_begun = self._is_inside = False
        return line

    def _place_of_key(self, line: str) -> re.Match[str] | None:
        place = self._behind.match(line) or (_BARE.match(line) if self._is_begun else None)
        if place is None:
            return None
        is_long = len(place["word"]) >= SHORTEST and _WORD.fullmatch(place["word"]) is None
        return place if self._is_begun or is_long else None


def _behind(prefix: str) -> re.Pattern[str]:
    """Finds the word of a key behind `prefix`, whatever the numbers and blanks in it."""
    if not prefix.strip() or len(prefix) > _PREFIX_CHARACTERS_MOST:
        return _BARE
    return _shaped(_CHANGING.sub(lambda found: "0" if found[0].isdigit() else " ", prefix))


@lru_cache(maxsize=64)
def _shaped(prefix: str) -> re.Pattern[str]:
    parts = {"0": r"\d+", " ": r"\s+"}
    words = "".join(parts.get(character) or re.escape(character) for character in prefix)
    return re.compile(rf"""(?P<before>{words}){_BODY}(?=\s*$|["'\\])""", re.ASCII)


def redact_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines of one text, in their order, with every secret masked."""
    blocks = KeyBlocks()
    return (blocks.mask(redact_text(line)) for line in lines)
