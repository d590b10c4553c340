"""What may stand at the end of a command line, from the shape of the commands alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Shape = Mapping[str, Any]
"""A command as plain JSON: `options` (spelling to [kinds, takes a value, help]), `arguments` (kinds
of each place), `repeats` (the last place goes on) and `commands` (name to [shape, help])."""

CHOICE, FILE, DIRECTORY = "=", "file", "dir"
"""A kind that begins with `=` is a word itself."""

WORKSPACE = ("-C", "--workspace")

_KINDS = {
    "HOST": "host", "OTHER": "host", "PROFILE": "profile", "BASELINE": "profile", "RUN": "run",
    "TRIAL": "run", "ALGORITHM": "algorithm", "SSH_ALIAS": "alias", "FILE": FILE, "DIR": DIRECTORY,
}  # fmt: skip


class Wanted(NamedTuple):
    """What can stand there."""

    kinds: tuple[str, ...]
    words: Mapping[str, str]
    """Fixed ones, to the note beside them."""

    typed: str
    """Of the word itself, what stands already."""

    before: str = ""
    """Of the same shell word, what stands before that: `--on=`."""

    chosen: str | None = None
    """The workspace that the line names."""


def kinds_of(metavar: str) -> tuple[tuple[str, ...], ...]:
    """`HOST[/SERVER]|RUN...` to the kinds of each place: one place, a host or a run."""
    places = re.sub(r"\[/SERVER\]|\[FILE\[:LINE\]\]|\[:[^\]]*\]|\.\.\.|[\[\]]", "", metavar).split()
    return tuple(
        tuple(kind for word in place.split("|") if (kind := _KINDS.get(word))) for place in places
    )


def joined(words: Sequence[str]) -> list[str]:
    """Words of bash put together again where it broke them, at `=` and at `:`."""
    out: list[str] = []
    is_open = False
    for word in words:
        is_break = word in {"=", ":"}
        if out and (is_break or is_open):
            out[-1] += word
        else:
            out.append(word)
        is_open = is_break
    return out


def wanted(shape: Shape, words: Sequence[str]) -> Wanted:
    """What may stand in place of the last of `words`."""
    *done, typed = words or [""]
    chosen, place, options_end = None, 0, False
    waiting: tuple[str, Sequence[str]] | None = None
    for word in done:
        if waiting is not None:
            chosen = word if waiting[0] in WORKSPACE else chosen
            waiting = None
        elif word == "--" and not options_end:
            options_end = True
        elif word.startswith("-") and len(word) > 1 and not options_end:
            waiting, chosen = _option(shape, word, chosen)
        elif place >= len(shape["arguments"]) and word in shape["commands"]:
            shape, place = shape["commands"][word][0], 0
        else:
            place += 1
    if waiting is not None:
        return Wanted(tuple(waiting[1]), {}, typed, chosen=chosen)
    if typed.startswith("-") and not options_end:
        return _options(shape, typed, chosen)
    return _argument(shape, place, typed, chosen)


def _option(
    shape: Shape, word: str, chosen: str | None
) -> tuple[tuple[str, Sequence[str]] | None, str | None]:
    """The option whose value comes next, if one does."""
    name, equals, value = word.partition("=")
    kinds, takes_value, _ = shape["options"].get(name, ((), False, ""))
    if equals:
        return None, value if name in WORKSPACE else chosen
    return ((name, kinds) if takes_value else None), chosen


def _options(shape: Shape, typed: str, chosen: str | None) -> Wanted:
    name, equals, value = typed.partition("=")
    if equals:
        kinds = shape["options"].get(name, ((),))[0]
        return Wanted(tuple(kinds), {}, value, f"{name}=", chosen)
    words = {one: row[2] for one, row in shape["options"].items() if one.startswith("--")}
    return Wanted((), words, typed, chosen=chosen)


def _argument(shape: Shape, place: int, typed: str, chosen: str | None) -> Wanted:
    arguments = shape["arguments"]
    if place < len(arguments):
        return Wanted(tuple(arguments[place]), {}, typed, chosen=chosen)
    if shape["repeats"] and arguments:
        return Wanted(tuple(arguments[-1]), {}, typed, chosen=chosen)
    commands = shape["commands"] if place == len(arguments) else {}
    words = {name: row[1] for name, row in commands.items()}
    return Wanted((), words, typed, chosen=chosen)
