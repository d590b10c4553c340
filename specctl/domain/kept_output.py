"""What a request generated, packed small enough to be kept with every launch of a trial."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TOKENS_MOST = 4096
CHARACTERS_MOST = 16_384
UNPACKED_BYTES_MOST = 1024 * 1024
AROUND = 24
"""Characters of shown text on either side of where two answers part."""


@dataclass(frozen=True, slots=True)
class Output:
    """The beginning of an answer: token ids where the server gave them, and the text."""

    ids: tuple[int, ...] | None
    text: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where two outputs part first."""

    index: int
    """From 0."""

    left: str | None
    """None: it has ended there."""

    right: str | None


def pack_output(ids: Sequence[int] | None, text: str | None) -> str | None:
    """Base64 of zlib of JSON; None where there is nothing to keep."""
    if ids is None and text is None:
        return None
    kept = {
        "ids": None if ids is None else list(ids[:TOKENS_MOST]),
        "text": None if text is None else text[:CHARACTERS_MOST],
    }
    return b64encode(zlib.compress(json.dumps(kept, separators=(",", ":")).encode(), 9)).decode()


def unpack_output(packed: str | None) -> Output | None:
    """None where nothing was kept, or what was kept cannot be read."""
    if packed is None:
        return None
    try:
        packed_bytes = b64decode(packed, validate=True)
        value = json.loads(zlib.decompressobj().decompress(packed_bytes, UNPACKED_BYTES_MOST))
    except (ValueError, zlib.error, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    ids, text = value.get("ids"), value.get("text")
    if not isinstance(ids, list) or not all(type(one) is int for one in ids):
        ids = None
    return Output(None if ids is None else tuple(ids), text if isinstance(text, str) else None)


def token_parting(one: Output, other: Output) -> Place | None:
    """Of the token ids; None where ids are missing or the kept ones do not part."""
    if one.ids is None or other.ids is None:
        return None
    at = _first_apart(one.ids, other.ids, TOKENS_MOST)
    return None if at is None else Place(at, _id_at(one.ids, at), _id_at(other.ids, at))


def text_parting(one: Output, other: Output) -> Place | None:
    """Of the text, by characters, with some of it on either side."""
    if one.text is None or other.text is None:
        return None
    at = _first_apart(one.text, other.text, CHARACTERS_MOST)
    return None if at is None else Place(at, _around(one.text, at), _around(other.text, at))


def _first_apart(one: Sequence[object], other: Sequence[object], most: int) -> int | None:
    shared = min(len(one), len(other))
    for at in range(shared):
        if one[at] != other[at]:
            return at
    return shared if len(one) != len(other) and shared < most else None


def _id_at(ids: Sequence[int], at: int) -> str | None:
    return str(ids[at]) if at < len(ids) else None


def _around(text: str, at: int) -> str | None:
    return text[max(0, at - AROUND) : at + AROUND] if at < len(text) else None
