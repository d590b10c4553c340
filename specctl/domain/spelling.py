"""Whether the keys and values of `[arguments]` and `[speculation]` are ones SGLang takes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from specctl.domain import flags
from specctl.domain.arguments import takes_nothing
from specctl.domain.nearest import nearest

_SHOWN_CHARACTERS = 40
COUNT_MOST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Slip:
    """What is wrong with one key or value, and what was probably meant."""

    message: str
    nearest: str = ""
    is_warning: bool = False
    is_about_build: bool = False
    """A build other than the one known here may have it."""


_ELSEWHERE = {
    "model-path": "the model is the top-level key `model`",
    "model": "the model is the top-level key `model`",
    "port": "the port is `port` in [placement]",
}


def argument_slip(key: str) -> Slip | None:
    """What is wrong with a key of `[arguments]`."""
    if key in _ELSEWHERE:
        return Slip(_ELSEWHERE[key])
    if (slip := _form_slip(key, flags.KNOWN)) is not None:
        return slip
    if key.startswith(flags.SPECULATION_PREFIX) and key in flags.KNOWN:
        short = key.removeprefix(flags.SPECULATION_PREFIX)
        return Slip(f"speculation has a table of its own: `{short}` in [speculation]")
    if key in flags.KNOWN:
        return None
    meant = flags.candidates(key)
    if meant:
        return Slip("an abbreviation: write the flag in full", nearest(key, meant))
    return _unknown("SGLang 0.5.23 has no such flag", nearest(key, flags.KNOWN))


def speculation_slip(key: str) -> Slip | None:
    """What is wrong with a key of `[speculation]`."""
    short = key.lstrip("-").replace("_", "-").removeprefix(flags.SPECULATION_PREFIX)
    if short != key and short in flags.SPECULATION_KEYS:
        message = "SGLang's spelling without `--speculative-` is wanted"
        return Slip(message, short)
    if key in flags.SPECULATION_KEYS:
        return None
    if (slip := _form_slip(key, flags.SPECULATION_KEYS)) is not None:
        return slip
    close = nearest(short, flags.SPECULATION_KEYS)
    return _unknown(f"SGLang 0.5.23 has no --speculative-{key}", close)


def _unknown(message: str, close: str) -> Slip:
    return Slip(message, close, is_warning=True, is_about_build=True)


def _form_slip(key: str, known: frozenset[str]) -> Slip | None:
    if key.startswith("-"):
        return Slip("flags are written without the leading dashes", nearest(key, known))
    if "_" in key or key != key.lower():
        return Slip("SGLang spells its flags in lower case with dashes", nearest(key, known))
    if not key or any(character.isspace() or character == "=" for character in key):
        return Slip("a key is one flag; its value goes after the equals sign")
    return None


def value_slip(flag: str, value: object) -> Slip | None:
    """What is wrong with the value of a flag, spelled in full."""
    if isinstance(value, bool):
        return None if _takes_bool(flag) else Slip("takes a value, not true or false")
    if flag in flags.KNOWN and takes_nothing(flags.canonical(flag)):
        return Slip(f"is a switch: true or false, not {shown(value)}")
    if isinstance(value, list):
        return _list_slip(flag, value)
    return _plain_slip(value)


def _takes_bool(flag: str) -> bool:
    return flag not in flags.KNOWN or takes_nothing(flags.canonical(flag))


def _list_slip(flag: str, value: Sequence[object]) -> Slip | None:
    if flag in flags.KNOWN and flags.canonical(flag) not in flags.LISTS:
        return Slip("takes one value, not a list")
    if any(isinstance(item, list | bool) for item in value):
        return Slip("a list holds strings, numbers or tables")
    return next((slip for item in value if (slip := _plain_slip(item))), None)


def _plain_slip(value: object) -> Slip | None:
    """Of a value on its way to one word of the command line."""
    match value:
        case str() | bool() | int():
            return Slip("holds a NUL character") if "\0" in str(value) else None
        case float():
            return None if math.isfinite(value) else Slip(f"{value} is no number SGLang takes")
        case Mapping():
            return next((slip for item in value.values() if (slip := _plain_slip(item))), None)
        case list():
            return next((slip for item in value if (slip := _plain_slip(item))), None)
        case _:
            return Slip(f"is {shown(value)}: write it as a string")


def range_slip(value: object) -> Slip | None:
    """What is wrong with a number of `[speculation]`: all are counts, sizes or shares."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value < 0:
        return Slip(f"{value} is below 0, and no argument of speculation can be")
    if value > COUNT_MOST:
        return Slip(f"it is more than {COUNT_MOST}, the most that a 32-bit count can be")
    return None


def shown(value: object) -> str:
    """A value and its kind, as TOML knows them."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"the string {value!r}" if len(value) <= _SHOWN_CHARACTERS else "a long string"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case Mapping():
            return "a table"
        case _:
            return "a date or time"
