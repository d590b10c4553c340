"""Placeholders for who and where: one text after the other, the same name the same placeholder.

What is known by name is replaced wherever it stands as a word; what only looks like a name - an
address, `user@host`, the host of a URL, a home directory, an identifier of hardware - by its shape.
Secrets are masked by `facts.redact` beforehand, and by value here.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable

LINE_CELLS = 400
SECRET_CHARACTERS_MIN = 6
"""Shorter values of secrets stand everywhere by chance."""

OPEN_WORDS = frozenset({"localhost", "local", "root", "home", "users", "nobody", "python"})
"""They say nothing of whose machine it is."""

_PLACEHOLDER = r"<(?:host|user|address|path|hardware|secret|key)-\d+>|<home>"
_SHAPES = (
    r"(?P<key>(?<![\w])SHA256:[A-Za-z0-9+/]{16,}=?)"
    r"|(?P<hardware>\b(?:GPU|MIG)-[0-9A-Fa-f]{4,}[0-9A-Fa-f/-]{0,40}"
    r"|(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:]))"
    r"|(?<=://)(?P<credentials>[^\s/@:]{1,64}:[^\s/@]{1,64})(?=@)"
    r"|(?P<six>(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:]))"
    r"|(?P<four>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w))"
    r"|(?P<login>(?<![\w.+-])[A-Za-z0-9_][\w.+-]{0,63})(?=@[A-Za-z0-9])"
    r"|(?<=@)(?P<at>[A-Za-z0-9][A-Za-z0-9.-]{0,253})"
    r"|(?<=://)(?P<url>[A-Za-z0-9][A-Za-z0-9.-]{0,253})"
    r"|(?<=/home/)(?P<home>[^/\s\"':,;)\]]{1,64})|(?<=/Users/)(?P<Users>[^/\s\"':,;)\]]{1,64})"
    r"|(?P<named>(?<![\w.-])(?:[A-Za-z0-9-]{1,63}\.){1,8}"
    r"(?:internal|intranet|local|lan|corp|private|example|com|net|org|io|ai|dev|cloud|edu)"
    r"(?![\w-]))"
)
"""Every repetition is bounded: a line takes a time proportional to its length."""

_KIND_OF = {
    "key": "key", "hardware": "hardware", "credentials": "secret", "six": "address",
    "four": "address", "login": "user", "at": "host", "url": "host", "home": "user",
    "Users": "user", "named": "host",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Names:
    """What is known by name."""

    hosts: frozenset[str] = frozenset()
    users: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    """Whole paths that name somebody, such as that of the workspace."""

    homes: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    """Their values."""


@dataclass(slots=True)
class Redactor:
    """Replaces names by placeholders, and remembers which is which."""

    names: Names
    seen: dict[str, dict[str, str]] = field(default_factory=dict)
    """Kind to name, in lower case, to placeholder."""

    counts: Counter[str] = field(default_factory=Counter)
    """How often something of a kind was replaced."""

    _known: dict[str, str] = field(init=False)
    _pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        self._known = _by_word(self.names)
        words = sorted(self._known, key=len, reverse=True)
        literals = "|".join(_as_word(word) for word in words) or r"(?!)"
        self._pattern = re.compile(
            f"(?P<done>{_PLACEHOLDER})|(?P<known>{literals})|{_SHAPES}", re.IGNORECASE
        )

    def line(self, text: str) -> str:
        """One line, safe to show, with placeholders."""
        return self._pattern.sub(self._replaced, shorten(clean(text), LINE_CELLS))

    def lines(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Several."""
        return tuple(self.line(text) for text in texts)

    def _replaced(self, match: re.Match[str]) -> str:
        group, text = match.lastgroup or "done", match[0]
        if group == "done":
            return text
        kind = self._known[text.lower()] if group == "known" else _KIND_OF[group]
        if group != "known" and _says_nothing(group, text):
            return text
        return self._placeholder(kind, text)

    def _placeholder(self, kind: str, text: str) -> str:
        self.counts[kind] += 1
        if kind == "home":
            return "<home>"
        known = self.seen.setdefault(kind, {})
        return known.setdefault(text.lower(), f"<{kind}-{len(known) + 1}>")


def _by_word(names: Names) -> dict[str, str]:
    """Every name in lower case, to its kind; a secret first, for it must not be told."""
    kinds = {
        "path": names.paths, "home": names.homes, "user": names.users, "host": names.hosts,
    }  # fmt: skip
    found = {
        word.lower(): kind
        for kind, words in kinds.items()
        for word in words
        if word.strip() and word.strip("/").lower() not in OPEN_WORDS and len(word) > 1
    }
    secrets = (value for value in names.secrets if len(value) >= SECRET_CHARACTERS_MIN)
    return found | {value.lower(): "secret" for value in secrets}


def _as_word(word: str) -> str:
    """Nothing of a letter or digit before or behind it, where it begins or ends with one."""
    before = r"(?<![A-Za-z0-9])" if word[0].isalnum() else ""
    behind = r"(?![A-Za-z0-9])" if word[-1].isalnum() else ""
    return f"{before}{re.escape(word)}{behind}"


def _says_nothing(group: str, text: str) -> bool:
    """A loopback address, a time that looks like an address, a name everybody has."""
    if group in {"six", "four"} or text[:1].isdigit():
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return group in {"six", "four"} or text.lower() in OPEN_WORDS
        return address.is_loopback or address.is_unspecified
    return text.lower() in OPEN_WORDS
