"""What differs between two things of a kind: builds, profiles, a profile and what runs; pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.command import parse_argv
from specctl.domain.source_difference import compare_trees as differences_of
from specctl.tui.render.source import SPECULATIVE, default_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.recipe import Recipe
    from specctl.domain.source import Tree
    from specctl.domain.source_difference import Differences

CONTEXT_LINES = 3
LONGEST_COMPARED = 40_000
"""Lines of both texts together, equal ends aside; beyond that only their ends are told apart."""


@dataclass(frozen=True, slots=True)
class Differing:
    """One thing that differs."""

    kind: str
    """`algorithm`, `flag`, `file`, `value`; of what both have the aspect, e.g. `default`."""

    name: str
    left: str | None
    """None where the left one has no such thing."""

    right: str | None
    file: str = ""
    """Whose text shows it; empty where no text does."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two things held against each other."""

    left: str
    right: str
    rows: tuple[Differing, ...] = ()
    same: str = ""
    """What was compared and is the same, in words."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A line of a comparison of texts: its sign, and its numbers on both sides."""

    sign: str
    """`-`, `+`, a space, or `@` between two places."""

    text: str
    left: int | None = None
    right: int | None = None


def compare_trees(left: Tree, right: Tree, names: tuple[str, str]) -> Compared:
    """Algorithms, flags and files of two builds, those of speculation first."""
    found = differences_of(left, right)
    rows = [
        *_rows("algorithm", found.algorithms, left, right),
        *_rows("flag", found.flags, left, right),
        *_files(found.files, left, right),
    ]
    same = "The same tree, file by file." if not rows else ""
    return Compared(*names, tuple(rows), same)


def _rows(kind: str, found: Differences, left: Tree, right: Tree) -> list[Differing]:
    """What only one build has, then what is otherwise, aspect by aspect."""
    words = _algorithm_words if kind == "algorithm" else _flag_words
    out = [Differing(kind, n, words(left, n), None, _file(left, n)) for n in found.removed]
    out += [Differing(kind, n, None, words(right, n), _file(right, n)) for n in found.added]
    for change in found.changed:
        file = _file(left, change.name) or _file(right, change.name)
        out.append(Differing(change.aspect, change.name, change.before, change.after, file))
    return sorted(out, key=lambda row: kind == "flag" and SPECULATIVE not in row.name)


def _algorithm_words(tree: Tree, name: str) -> str:
    found = tree.algorithm(name)
    worker = (found.worker or "").rpartition(":")[2] if found else ""
    return worker or "there"


def _flag_words(tree: Tree, name: str) -> str:
    found = tree.flag(name)
    if found is None:
        return "there"
    choices = " of " + " ".join(found.choices) if found.choices else ""
    return default_words(found) + choices


def _file(tree: Tree, name: str) -> str:
    """The file whose text shows it: where a flag is declared, an algorithm's worker."""
    flag, algorithm = tree.flag(name), tree.algorithm(name)
    if flag is not None:
        return flag.place.file
    if algorithm is not None and algorithm.worker:
        return algorithm.worker.partition(":")[0]
    return algorithm.place.file if algorithm is not None and algorithm.place else ""


def _files(found: Differences, left: Tree, right: Tree) -> list[Differing]:
    names = sorted({*found.added, *found.removed, *(change.name for change in found.changed)})
    return [Differing("file", n, _lines(left, n), _lines(right, n), n) for n in names]


def _lines(tree: Tree, name: str) -> str | None:
    file = tree.files.get(name)
    return None if file is None else f"{file.lines or 0:,} lines"


def compare_recipes(left: Recipe, right: Recipe) -> Compared:
    """The values of two profiles."""
    ours = {row.key: row.text for row in left.rows}
    theirs = {row.key: row.text for row in right.rows}
    rows = [
        Differing("value", key, ours.get(key), theirs.get(key))
        for key in dict.fromkeys((*ours, *theirs))
        if ours.get(key) != theirs.get(key)
    ]
    return Compared(left.profile, right.profile, tuple(rows), "" if rows else "The same values.")


def compare_running(recipe: Recipe, argv: Sequence[str], server: str) -> Compared:
    """A profile's command line against that of a process."""
    ours, theirs = _options(recipe.argv), _options(argv)
    rows = [
        Differing("value", "--" + flag, ours.get(flag), theirs.get(flag))
        for flag in dict.fromkeys((*ours, *theirs))
        if ours.get(flag) != theirs.get(flag)
    ]
    same = "" if rows else "It runs with exactly this command line."
    return Compared(recipe.profile, server, tuple(rows), same)


def _options(argv: Sequence[str]) -> dict[str, str]:
    return {o.flag: " ".join(o.values) or "on" for o in parse_argv(argv).options}


def changed_lines(left: str, right: str) -> list[Changed]:
    """Two texts line by line, only what differs and a little around it."""
    a, b = left.splitlines(), right.splitlines()
    start = _common(a, b)
    end = _common(a[start:][::-1], b[start:][::-1])
    inner_a, inner_b = a[start : len(a) - end], b[start : len(b) - end]
    if not inner_a and not inner_b:
        return []
    if len(inner_a) + len(inner_b) > LONGEST_COMPARED:
        return [Changed("@", "too long to be told apart line by line")]
    first = max(0, start - CONTEXT_LINES)
    rest = min(end, CONTEXT_LINES)
    around_a = a[first : len(a) - end + rest]
    around_b = b[first : len(b) - end + rest]
    return _grouped(around_a, around_b, first)


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        count += 1
    return count


def _grouped(a: Sequence[str], b: Sequence[str], offset: int) -> list[Changed]:
    out: list[Changed] = []
    matcher = difflib.SequenceMatcher(None, a, b)
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        out.append(Changed("@", f"line {group[0][3] + offset + 1:,}"))
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                out += [
                    Changed(" ", a[i], i + offset + 1, j1 + i - i1 + offset + 1)
                    for i in range(i1, i2)
                ]
                continue
            out += [Changed("-", a[i], i + offset + 1) for i in range(i1, i2)]
            out += [Changed("+", b[j], None, j + offset + 1) for j in range(j1, j2)]
    return out
