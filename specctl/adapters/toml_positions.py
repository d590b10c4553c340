"""The line on which each key of a TOML text is written; tomllib does not tell.

Reads text that tomllib has accepted, so it only has to find its way, not to judge.
Grammar: https://toml.io/en/v1.0.0 (line breaks inside inline tables, as of 1.1, do no harm).
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\]|\\.)*"|\'[^\']*\'', re.DOTALL
)
_PLAIN = re.compile(r"[^,\]}#\n]*")


def positions(text: str) -> dict[Path, int]:
    """Path of every key, table and list item to the 1-based line it first appears on.

    Items of lists, arrays of tables included, are numbered: `("corpora", 0, "path")`.
    """
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.found: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def scan(self) -> dict[Path, int]:
        table: Path = ()
        while self._next():
            if self._take("[["):
                table = self._open_item(self._key_until("]]"))
            elif self._take("["):
                table = self._open_table(self._key_until("]"))
            else:
                self._pair(table)
        return self.found

    def _pair(self, under: Path) -> None:
        path = self._record(under, self._key_until("="))
        self._value(path)

    def _value(self, path: Path) -> None:
        self._next()
        if self._take("["):
            self._list(path)
        elif self._take("{"):
            while self._next() and not self._take("}"):
                if not self._take(","):
                    self._pair(path)
        elif match := _STRING.match(self.text, self.at):
            self.at = match.end()
        else:
            self._advance(_PLAIN)

    def _list(self, path: Path) -> None:
        index = 0
        while self._next() and not self._take("]"):
            if self._take(","):
                continue
            item = (*path, index)
            self.found.setdefault(item, self._line())
            self._value(item)
            index += 1

    def _open_item(self, key: list[tuple[str, int]]) -> Path:
        """`[[a.b]]` begins the next item of the list at a.b."""
        under = self._walk(key[:-1])
        name, line = key[-1]
        path = (*under, name)
        index = self.counts.get(path, -1) + 1
        self.counts[path] = index
        self.found.setdefault(path, line)
        self.found[(*path, index)] = line
        return (*path, index)

    def _open_table(self, key: list[tuple[str, int]]) -> Path:
        return self._walk(key)

    def _walk(self, key: list[tuple[str, int]]) -> Path:
        """A header's path, entering the latest item of every list on the way."""
        path: Path = ()
        for name, line in key:
            path = (*path, name)
            self.found.setdefault(path, line)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def _record(self, under: Path, key: list[tuple[str, int]]) -> Path:
        path = under
        for name, line in key:
            path = (*path, name)
            self.found.setdefault(path, line)
        return path

    def _key_until(self, closing: str) -> list[tuple[str, int]]:
        """The parts of a dotted key with their lines, up to and including `closing`."""
        parts: list[tuple[str, int]] = []
        while self._next() and not self._take(closing):
            if not self._take("."):
                line = self._line()
                parts.append((self._key_part(), line))
        return parts

    def _key_part(self) -> str:
        if self.text[self.at] not in "\"'":
            return self._advance(_BARE_KEY)
        quoted = self._advance(_STRING)
        return str(tomllib.loads(f"key = {quoted}")["key"])

    def _next(self) -> bool:
        """Skip blanks, line breaks and comments; false at the end."""
        self._advance(_BLANK)
        return self.at < len(self.text)

    def _take(self, mark: str) -> bool:
        if not self.text.startswith(mark, self.at):
            return False
        self.at += len(mark)
        return True

    def _advance(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            msg = f"no TOML at offset {self.at}"
            raise ValueError(msg)
        self.at = match.end()
        return match.group()

    def _line(self) -> int:
        return bisect_right(self.starts, self.at)
