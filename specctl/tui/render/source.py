"""A build's algorithms, what its source says of each, and its flags: one line each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.tui.render.lines import UNKNOWN, Line, middle, row, spread, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.source import Algorithm, Flag, Place, Restriction, Tree

SPECULATIVE = "--speculative-"
NAME_CELLS, FILES_CELLS, LINES_CELLS = 13, 5, 6
TYPE_CELLS, DEFAULT_CELLS = 6, 12
HEADS = ("NAME", "FILES", "LINES", "WORKER")
SHORT_HASH = 7
MOST_WORDS = 4
"""Lines of an explanation under the chosen item."""


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that the source says of an algorithm, or that could not be read."""

    words: str
    place: Place | None = None
    detail: str = ""
    """The condition, or what kind of thing it is."""

    is_problem: bool = False


def said_of(tree: Tree, algorithm: Algorithm | None) -> list[Said]:
    """What the source says of an algorithm, what names it first; then what could not be read."""
    out: list[Said] = []
    if algorithm is not None:
        stem = stem_of(algorithm)
        out += [
            Said(r.words, r.place, f"{r.effect} when {r.condition}" if r.condition else r.effect)
            for r in sorted(algorithm.restrictions, key=lambda r: not _names(r, stem))
        ]
        out += [Said(f"draft {name}", None, "a draft architecture it names") for name in
                algorithm.draft_architectures]  # fmt: skip
        if algorithm.plugin:
            out.append(Said(f"registered by {algorithm.plugin}", algorithm.place, "a plugin"))
    out += [Said(p.words, p.place, "could not be read", is_problem=True) for p in tree.problems]
    return out


def stem_of(algorithm: Algorithm | None) -> str:
    """What names of its own flags and files have in them: `eagle` of EAGLE3."""
    return algorithm.name.lower().rstrip("0123456789").rstrip("_") if algorithm else ""


def _names(restriction: Restriction, stem: str) -> bool:
    text = f"{restriction.words} {restriction.condition} {restriction.place.file}"
    return stem in text.lower()


def usual_file(said: Sequence[Said]) -> str:
    """The file that most of it stands in: of its lines the number alone is shown."""
    files = [one.place.file for one in said if one.place is not None]
    return max(files, key=files.count, default="")


def place_words(place: Place | None, usual: str = "") -> str:
    """Where a line leads: `1291` in the usual file, else `ngram_worker.py:52`."""
    if place is None:
        return ""
    name = place.file.rpartition("/")[2]
    if place.line is None:
        return name
    return str(place.line) if place.file == usual else f"{name}:{place.line}"


def algorithms_head(cells: int) -> Line:
    """The heads of the columns."""
    return _algorithm_row([[(name, "faint")] for name in HEADS], cells)


def algorithm_line(algorithm: Algorithm, cells: int) -> Line:
    """One algorithm: how much of the tree it is, and which class does it."""
    worker: Line = [UNKNOWN]
    if algorithm.worker is not None:
        worker = [(middle(algorithm.worker.rpartition(":")[2], _worker_cells(cells)), "dim")]
    lines = UNKNOWN if algorithm.lines is None else (f"{algorithm.lines:,}", "text")
    is_known = algorithm.worker is not None or bool(algorithm.files)
    files = (str(len(algorithm.files)), "text") if is_known else UNKNOWN
    name: Line = [(middle(algorithm.name, NAME_CELLS), "title")]
    columns: list[Line] = [
        name, [files], [lines], worker
    ]  # fmt: skip
    return _algorithm_row(columns, cells)


def _worker_cells(cells: int) -> int:
    return max(0, cells - NAME_CELLS - FILES_CELLS - LINES_CELLS - 4)


def _algorithm_row(columns: Sequence[Line], cells: int) -> Line:
    name, files, lines, worker = columns
    return row(
        (name, NAME_CELLS), (files, FILES_CELLS, ">"), (lines, LINES_CELLS, ">"),
        ([(" ", ""), *worker], _worker_cells(cells) + 1),
        gap=1,
    )  # fmt: skip


def algorithm_more(algorithm: Algorithm, cells: int) -> list[Line]:
    """Aliases, and workers that stand in under conditions."""
    out: list[Line] = []
    if algorithm.aliases:
        out.append(_more("also", ", ".join(algorithm.aliases), cells))
    out += [_more("or", other.rpartition(":")[2], cells) for other in algorithm.other_workers]
    return out


def _more(name: str, words: str, cells: int) -> Line:
    return [("  └ ", "faint"), (name + " ", "dim"), (middle(words, cells - len(name) - 5), "text")]


def tree_summary(tree: Tree) -> Line:
    """`8 in 0.5.23`, and how much could not be read."""
    out: Line = [(str(len(tree.algorithms)), "strong"), (" in ", "dim")]
    out.append((tree.version, "dim") if tree.version else ("an unknown version", "dim"))
    if tree.problems:
        out += [("  ", ""), (f"▲{len(tree.problems)} not read", "warn")]
    return out


def tree_note(tree: Tree) -> Line:
    """Which tree it is: hash, and whether it is the one that was released."""
    out: Line = [("tree ", "dim"), (tree.short_hash[:SHORT_HASH], "strong")]
    if tree.commit:
        state = ", edited" if tree.commit.endswith("-dirty") else ", not edited"
        out += [(" at ", "dim"), (tree.commit[:SHORT_HASH], "strong"), (state, "dim")]
    elif tree.is_editable:
        out.append((", editable", "dim"))
    return out


def no_algorithms(tree: Tree, cells: int) -> list[Line]:
    """Why there is none."""
    version = tree.version or "This build"
    if not tree.has_speculation:
        words = f"{version} has no speculation at all. It came with 0.4.2."
    else:
        words = f"No algorithm was found in {version}: its layout is not known."
    return [[(text, "text")] for text in wrap(words, cells)]


def said_line(said: Said, usual: str, cells: int) -> Line:
    """One thing it says, and the line that says so."""
    mark = ("▲ ", "warn") if said.is_problem else ("· ", "faint")
    where: Line = [("  " + place_words(said.place, usual), "accent")] if said.place else []
    return spread([mark, (said.words, "text")], where, cells)


def said_more(said: Said, usual: str, cells: int) -> list[Line]:
    """The words in full where the line cut them, and under which condition."""
    room = max(8, cells - 4)
    out: list[Line] = []
    if len(said.words) + len(place_words(said.place, usual)) + 4 > cells:
        out += [[("  └ " if i == 0 else "    ", "faint"), (text, "text")]
                for i, text in enumerate(wrap(said.words, room)[:MOST_WORDS])]  # fmt: skip
    out += [[("    " if out else "  └ ", "faint"), (text, "dim")]
            for text in wrap(said.detail, room)[:MOST_WORDS]]  # fmt: skip
    return out


def ordered_flags(flags: Sequence[Flag], algorithm: Algorithm | None) -> tuple[list[Flag], int]:
    """The algorithm's own first, then the other speculative ones, then the rest; how many own."""
    stem = stem_of(algorithm)
    rank = [_rank(flag, stem) for flag in flags]
    order = sorted(range(len(flags)), key=lambda i: rank[i])
    return [flags[i] for i in order], rank.count(0)


def _rank(flag: Flag, stem: str) -> int:
    if not flag.name.startswith(SPECULATIVE):
        return 2
    return 0 if stem and stem.replace("_", "-") in flag.name else 1


def flags_head(cells: int) -> Line:
    """The heads of the columns."""
    return _flag_row([(SPECULATIVE + "…", "faint")], [("DEFAULT", "faint")], [("TYPE", "faint")],
                     cells)  # fmt: skip


def _flag_row(name: Line, default: Line, kind: Line, cells: int) -> Line:
    room = max(8, cells - DEFAULT_CELLS - TYPE_CELLS - 2)
    return row((name, room), (default, DEFAULT_CELLS), (kind, TYPE_CELLS), gap=1)


def flag_line(flag: Flag, cells: int) -> Line:
    """One flag: its name, default, and what it takes."""
    room = max(8, cells - DEFAULT_CELLS - TYPE_CELLS - 2)
    own = flag.name.startswith(SPECULATIVE)
    name = flag.name.removeprefix(SPECULATIVE) if own else flag.name
    tone = "strike" if flag.is_deprecated else "text" if own else "dim"
    kind = "choice" if flag.choices else "switch" if flag.is_switch else flag.type
    return _flag_row(
        [(middle(name, room), tone)],
        [(middle(default_words(flag), DEFAULT_CELLS), "strong")],
        [(middle(kind, TYPE_CELLS), "dim")] if kind else [UNKNOWN],
        cells,
    )


def default_words(flag: Flag) -> str:
    """The default as a person writes it."""
    value = flag.default
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:,}" if isinstance(value, int) else str(value)


def flag_more(flag: Flag, cells: int) -> list[Line]:
    """Choices, aliases, help, where it is declared."""
    out: list[Line] = []
    for name, words in (
        ("one of", " ".join(flag.choices or ())),
        ("also", " ".join((*flag.aliases, *flag.negations))),
        ("", flag.help),
    ):
        room = max(8, cells - 5 - len(name))
        lines = wrap(words, room)[:MOST_WORDS]
        out += [[("  └ " if not i else " " * (5 + len(name) if name else 4), "faint"),
                 *([(name + " ", "dim")] if name and not i else []), (text, "text")]
                for i, text in enumerate(lines)]  # fmt: skip
    where = [("  └ ", "faint"), ("declared in ", "dim"), (str(flag.place), "accent")]
    return [*out, where]
