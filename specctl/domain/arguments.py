"""SGLang's command line read the way its argparse reads it, and written back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain import flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.profile import Value

_NEGATIVE_NUMBER = re.compile(r"-\d+|-\d*\.\d+")
"""argparse takes these for values, as no flag of SGLang looks like one."""

_PLACEHOLDER = re.compile(r"<[A-Za-z_][^<>\n]*>")


@dataclass(frozen=True, slots=True)
class Option:
    """One flag of a command line with its values."""

    flag: str
    """Its first spelling, without dashes; as written when it is not known or ambiguous."""

    written: str
    """As written, dashes included, without the value."""

    values: tuple[str, ...] = ()
    meant: tuple[str, ...] = ()
    """The known flags it may stand for: one when it is clear, none when it is unknown."""

    @property
    def is_clear(self) -> bool:
        """It stands for exactly one known flag."""
        return len(self.meant) == 1


def read_options(tokens: Sequence[str]) -> tuple[tuple[Option, ...], tuple[str, ...]]:
    """The options of a command line in order, and the words that belong to none."""
    options: list[Option] = []
    stray: list[str] = []
    at = 0
    while at < len(tokens):
        if not looks_like_flag(tokens[at]):
            stray.append(tokens[at])
            at += 1
            continue
        written, equals, joined = tokens[at].partition("=")
        at += 1
        meant = flags.candidates(written.lstrip("-")) if written.startswith("--") else ()
        flag = flags.canonical(meant[0] if len(meant) == 1 else written.lstrip("-"))
        if equals:
            values: tuple[str, ...] = (joined,)
        else:
            values = _values(flag, tokens[at:], known=len(meant) == 1)
            at += len(values)
        options.append(Option(flag, written, values, meant))
    return tuple(options), tuple(stray)


def _values(flag: str, following: Sequence[str], *, known: bool) -> tuple[str, ...]:
    if known and (takes_nothing(flag) or flag.startswith("no-")):
        return ()
    end = next((i for i, t in enumerate(following) if looks_like_flag(t)), len(following))
    is_single = known and flag not in flags.LISTS
    return tuple(following[: min(end, 1) if is_single else end])


def takes_nothing(flag: str) -> bool:
    """The flag is a switch in some version known here."""
    return flag in flags.SWITCHES | flags.SWITCHES_WITH_NO | flags.EARLIER_SWITCHES


def looks_like_flag(text: str) -> bool:
    """As argparse decides: a lone dash, a negative number or a word with a blank is a value."""
    if not text.startswith("-") or text == "-" or _NEGATIVE_NUMBER.fullmatch(text):
        return False
    return "=" in text or " " not in text


def render(flag: str, value: Value) -> tuple[str, ...]:
    """The words of a command line that give `flag` its value.

    True is the bare flag; false leaves it out, or is its `--no-` form where there is one; a list
    gives its items one after the other; a table is compact JSON.
    """
    if isinstance(value, bool):
        if value:
            return (f"--{flag}",)
        return (f"--no-{flag}",) if flag in flags.SWITCHES_WITH_NO else ()
    if isinstance(value, tuple):
        return (f"--{flag}", *(word(item) for item in value)) if value else ()
    text = word(value)
    return (f"--{flag}={text}",) if looks_like_flag(text) else (f"--{flag}", text)


def word(value: Value) -> str:
    """One value as one word of a command line; no quoting."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(_plain(value), separators=(",", ":"))


def _plain(value: Value) -> object:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def placeholders(text: str) -> tuple[str, ...]:
    """The `<words>` of a value that somebody has yet to fill in."""
    return tuple(_PLACEHOLDER.findall(text))


def whole(value: Value | None) -> int | None:
    """A whole number, also one written as a string, as `int()` reads it; None for anything else."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    try:
        return int(value) if isinstance(value, str) else None
    except ValueError:
        return None
