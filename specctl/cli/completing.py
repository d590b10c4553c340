"""`specctl __complete SHELL -- WORD…`: what the script of `specctl completion` asks at each tab.

A line is `word<tab>note`, or `<tab>file` and `<tab>dir` where the shell lists those itself. No host
is asked, and click is imported only when the commands are new.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters.completing import find_words, keep_shape, read_shape, shape_file
from specctl.domain.completion import CHOICE, DIRECTORY, FILE, joined, wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specctl.domain.completion import Shape, Wanted

BREAKS = "=:"
"""Where bash breaks words: it wants only what comes after the last of them."""

NOTE_CELLS = 60


def complete(shell: str, words: Sequence[str]) -> list[str]:
    """The lines of the answer, for the words behind `specctl` up to the one being typed."""
    line = joined(words) if shell == "bash" else list(words)
    found = wanted(the_shape(), line)
    out = []
    for word, note in _candidates(found).items():
        whole = found.before + word
        if shell == "bash":
            whole = _after_break(whole, found.before + found.typed)
        out.append(f"{whole}\t{_short(note)}")
    return [*out, *(f"\t{kind}" for kind in (FILE, DIRECTORY) if kind in found.kinds)]


def _candidates(found: Wanted) -> dict[str, str]:
    words = dict(found.words)
    for kind in found.kinds:
        if kind.startswith(CHOICE):
            words.setdefault(kind.removeprefix(CHOICE), "")
        else:
            words |= find_words(kind, found.chosen)
    return {word: note for word, note in words.items() if word.startswith(found.typed)}


def _after_break(word: str, typed: str) -> str:
    last = max(typed.rfind(mark) for mark in BREAKS)
    return word[last + 1 :]


def _short(note: str) -> str:
    """One line without control characters: notes come from files."""
    plain = "".join(char if char.isprintable() else " " for char in note)
    return plain if len(plain) <= NOTE_CELLS else plain[: NOTE_CELLS - 1] + "…"


def the_shape() -> Shape:
    """Of this specctl's commands; worked out once, then kept."""
    file = shape_file(Path(__file__).parents[1])
    shape = read_shape(file)
    if shape is None:
        from specctl.cli.completion_shape import whole_shape

        shape = whole_shape()
        keep_shape(file, shape)
    return shape


def answer(words: Iterable[str]) -> int:
    """Print the answer to `SHELL -- WORD…`."""
    shell, *rest = words
    rest = rest[1:] if rest[:1] == ["--"] else rest
    sys.stdout.write("".join(f"{line}\n" for line in complete(shell, rest)))
    sys.stdout.flush()
    return 0
