"""The tokenizer of the lab's models: byte pairs, lossless for any text.

It is the same as what Hugging Face's library makes of `describe()`, the content of a
tokenizer.json; ids are the 256 bytes, the merges, then the special tokens.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from specctl.lab.merging import merge_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SPECIAL = (
    "[BOS]",
    "[EOS]",
    "[PAD]",
    "<|im_end|>",
    "<|im_user|>",
    "<|im_assistant|>",
    "<|im_system|>",
    "<|im_middle|>",
)
PIECES = r" ?[A-Za-z]+| ?[0-9]{1,3}| ?[^ \t\r\nA-Za-z0-9]+|[ \t\r\n]+(?![^ \t\r\n])|[ \t\r\n]+"
"""What is merged by itself; spelled without classes on which regular expression engines differ."""

_MOST_KNOWN = 50_000


def _name_bytes() -> tuple[str, ...]:
    """A printable character for every byte, as byte-level vocabularies write them (GPT-2)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    names = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        names.setdefault(byte, chr(256 + len(names) - len(printable)))
    return tuple(names[byte] for byte in range(256))


BYTES = _name_bytes()


class Tokenizer:
    """Texts to ids and back."""

    def __init__(self, merges: Sequence[tuple[str, str]]) -> None:
        self._merges = tuple(merges)
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._names = [*sorted(BYTES), *(first + second for first, second in merges), *SPECIAL]
        self._ids = {name: number for number, name in enumerate(self._names)}
        self._specials = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")
        self._pieces = re.compile(PIECES)
        value = {name: byte for byte, name in enumerate(BYTES)}
        self._bytes = [
            name.encode() if name in SPECIAL else bytes(value[letter] for letter in name)
            for name in self._names
        ]
        self._known: dict[str, list[int]] = {}
        self.eos_id = self._ids["<|im_end|>"]
        self.eos_ids = frozenset((self.eos_id, self._ids["[EOS]"]))
        """What ends an answer unless `ignore_eos` is asked for."""

        self.special_ids = frozenset(self._ids[name] for name in SPECIAL)

    @property
    def size(self) -> int:
        """Ids in use."""
        return len(self._names)

    def encode(self, text: str) -> list[int]:
        """The ids of `text`; the names of special tokens in it become those tokens."""
        ids: list[int] = []
        for part in self._specials.split(text):
            if part in self._ids and part in SPECIAL:
                ids.append(self._ids[part])
            else:
                for piece in self._pieces.findall(part):
                    ids += self._known.get(piece) or self._learn(piece)
        return ids

    def decode(self, ids: Iterable[int], *, skips_special: bool = True) -> str:
        """The text of `ids`; bytes that are no UTF-8 become U+FFFD."""
        return self.decode_bytes(ids, skips_special=skips_special).decode(errors="replace")

    def decode_bytes(self, ids: Iterable[int], *, skips_special: bool = True) -> bytes:
        """The bytes of `ids`, which may end within a character; unknown ids are nothing."""
        skipped = self.special_ids if skips_special else frozenset()
        known = (number for number in ids if 0 <= number < self.size and number not in skipped)
        return b"".join(self._bytes[number] for number in known)

    def describe(self) -> dict[str, Any]:
        """The object of a tokenizer.json."""
        special = [_describe_special(name, self._ids[name]) for name in SPECIAL]
        split = {
            "type": "Split",
            "pattern": {"Regex": PIECES},
            "behavior": "Isolated",
            "invert": False,
        }
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": special,
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, _BYTE_LEVEL]},
            "post_processor": None,
            "decoder": _BYTE_LEVEL,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": {name: self._ids[name] for name in self._names if name not in SPECIAL},
                "merges": [f"{first} {second}" for first, second in self._merges],
            },
        }

    def _learn(self, piece: str) -> list[int]:
        word = "".join(BYTES[byte] for byte in piece.encode())
        ids = [self._ids[name] for name in merge_word(word, self._ranks)]
        if len(self._known) < _MOST_KNOWN:
            self._known[piece] = ids
        return ids


_BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": False,
}


def _describe_special(name: str, number: int) -> dict[str, Any]:
    return {
        "id": number,
        "content": name,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
    }


def split_words(text: str) -> Iterator[str]:
    """The pieces of `text` in the letters of `BYTES`, from which merges are learned."""
    for piece in re.findall(PIECES, text):
        yield "".join(BYTES[byte] for byte in piece.encode())


@cache
def load_tokenizer() -> Tokenizer:
    """The lab's tokenizer."""
    text = (resources.files("specctl.lab.data") / "merges.txt").read_text(encoding="utf-8")
    merges = (line.split(" ") for line in text.splitlines())
    return Tokenizer([(first, second) for first, second in merges])
