"""Hostile values made whole from a size and a seed: hypothesis draws two choices, not hundreds.

A smaller size gives a smaller value, so what fails is shrunk.
"""

from __future__ import annotations

import ast
import copy
import re
import struct
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import strategies as st

import specctl.facts

Make = Callable[["Dice"], Any]

SIZES = st.integers(0, 8)
SEEDS = st.binary(min_size=8, max_size=8)

EDGES = [sign * ((1 << bits) + step) for sign in (1, -1) for step in (-1, 0, 1)
         for bits in (0, 7, 8, 15, 16, 31, 32, 53, 63, 64, 70, 1024)] + [10**400]  # fmt: skip
FLOATS = [0.0, -0.0, 0.5, -1.0, 1e-9, 5e-324, 2.0**53, 1e22, 1.7e308, float("inf"), -float("inf"),
          float("nan")]  # fmt: skip
LETTERS = [range(32, 127), range(32, 127), range(48, 58), range(32), range(127, 256),
           range(0x600, 0x700), range(0x2000, 0x2070), range(0xD800, 0xE000), range(0x10000),
           range(0x10000, 0x110000)]  # fmt: skip
FRAGMENTS = [
    "", " ", "\n", "\r", "\t", "\x00", "\x1b[31m", "\x1b]0;", "\x9b", "\u202e", "\ufeff", "\u00b2",
    "\u0663", "nan", "-inf", "1e400", "-0", "9" * 40, "9" * 5000, "0x7", "None", "null", "true",
    "%s", "{0}", "[/bold]", "..", "/", "../x", "~", "--", "=", "'", '"', "\\", ",", ":", ";",
    "x" * 300,
]  # fmt: skip
ODD_NUMBERS = ["9" * 5000, "9" * 400, "9" * 19, "-1", "0", "00", "\u00b2", "\u0663", "1e400", "nan",
               "0x" + "f" * 5000, "1:" * 200, "1_000", "+7", "7.", ".5", "[N/A]"]  # fmt: skip


@cache
def readers_words() -> list[str]:
    """Every word the readers of facts have in quotes."""
    folder = Path(next(iter(specctl.facts.__path__)))
    nodes = (n for path in folder.rglob("*.py") for n in ast.walk(ast.parse(path.read_text())))
    texts = (n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return sorted({text for text in texts if len(text) <= 40 and "\n" not in text})


class Dice(Random):
    """Random numbers of one seed, and the most elements that a container may have."""

    def __init__(self, size: int, seed: bytes) -> None:
        super().__init__(seed)
        self.size = size

    def text(self) -> str:
        """Mostly a word or a few odd letters; lone surrogates too, as JSON may bring them."""
        roll = self.random()
        if roll < 0.3:
            return self.choice(readers_words())
        if roll < 0.4:
            return "".join(self.choices(FRAGMENTS, k=self.randint(0, 3)))
        letters = self.choice(LETTERS)
        return "".join([chr(self.choice(letters)) for _ in range(self.randint(0, 12))])

    def number(self) -> int | float:
        roll = self.random()
        if roll < 0.3:
            return self.randint(-1, 9)
        if roll < 0.5:
            return self.choice(EDGES)
        if roll < 0.7:
            return self.getrandbits(self.randint(1, 128)) * self.choice((1, 1, -1))
        if roll < 0.85:
            return self.choice(FLOATS)
        return float(struct.unpack("<d", self.randbytes(8))[0])

    def scalar(self) -> Any:
        roll = self.random()
        if roll < 0.25:
            return self.choice((None, True, False))
        return self.number() if roll < 0.6 else self.text()


@st.composite
def made(draw: st.DrawFn, make: Make) -> Any:
    """What `make` makes, as a strategy."""
    return make(Dice(draw(SIZES), draw(SEEDS)))


def word(*choices: Any) -> Make:
    return lambda dice: dice.choice(choices)


def number(least: int, most: int) -> Make:
    return lambda dice: dice.randint(least, most)


def either(*makes: Make) -> Make:
    return lambda dice: dice.choice(makes)(dice)


def many(make: Make, most: int, least: int = 0) -> Make:
    return lambda dice: [
        make(dice) for _ in range(max(least, min(dice.size, dice.randint(least, most))))
    ]


def record(required: dict[str, Make], optional: dict[str, Make] | None = None) -> Make:
    """A dictionary with all keys of one kind and about half of the other, in any order."""

    def make(dice: Dice) -> dict[str, Any]:
        value = {key: inner(dice) for key, inner in required.items()}
        for key, inner in (optional or {}).items():
            if dice.random() < 0.5:
                value[key] = inner(dice)
        return value

    return make


def mapping(keys: Make, make: Make, most: int) -> Make:
    return lambda dice: dict(many(lambda one: (keys(one), make(one)), most)(dice))


_NUMBER, _PIECE = re.compile(r"\d+"), re.compile(r"\w+|\s+|.", re.DOTALL)


def damaged(*texts: str) -> Make:
    """One of the texts with lines lost or doubled and pieces of lines replaced."""

    def make(dice: Dice) -> str:
        lines = dice.choice(texts).splitlines(keepends=True)
        for _ in range(dice.randint(0, dice.size)):
            place = dice.randrange(len(lines)) if lines else 0
            roll = dice.random()
            if roll < 0.15:
                del lines[place : place + 1]
            elif roll < 0.3:
                lines[place:place] = lines[-1:] if dice.random() < 0.5 else lines[place : place + 1]
            elif lines and lines[place]:
                lines[place] = _with_a_piece_replaced(dice, lines[place])
        whole = "".join(lines)
        return whole[: dice.randint(0, len(whole))] if dice.random() < 0.1 else whole

    return make


def _with_a_piece_replaced(dice: Dice, line: str) -> str:
    start = dice.randrange(len(line))
    piece = dice.choice((_NUMBER, _PIECE)).search(line, start) or _PIECE.search(line, start)
    assert piece is not None
    put = dice.text() if dice.random() < 0.4 else dice.choice(ODD_NUMBERS)
    return line[: piece.start()] + put + line[piece.end() :]


def json_of(keys: Iterable[str] = (), *, leaves: int = 20) -> Make:
    """Any JSON, nested at most five deep, keys often among `keys`, values sometimes repeated."""
    known = tuple(keys)

    def make(dice: Dice) -> Any:
        left = min(leaves, 3 * dice.size)
        before: list[Any] = []

        def key() -> str:
            return dice.choice(known) if known and dice.random() < 0.6 else dice.text()

        def value(depth: int) -> Any:
            nonlocal left
            roll = dice.random()
            if before and roll < 0.1:
                return copy.deepcopy(dice.choice(before))
            if depth > 4 or left <= 0 or roll < 0.3 + 0.1 * depth:
                left -= 1
                found: Any = dice.scalar()
            elif roll < 0.6:
                found = [value(depth + 1) for _ in range(dice.randint(0, 4))]
            else:
                found = {key(): value(depth + 1) for _ in range(dice.randint(0, 6))}
            before.append(found)
            return found

        return value(0)

    return make
