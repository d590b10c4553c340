"""What `inspect` and `source` print as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.missing import Reasons
    from specctl.domain.source import Algorithm, Flag, Install, ReadingProblem, Tree
    from specctl.domain.source_difference import Differences


@dataclass(frozen=True, slots=True)
class ShownRestriction:
    """Something an algorithm refuses or rewrites, as its source says it."""

    kind: str
    effect: str
    """`refused`, `asserted`, `warned` or `rewritten`."""

    words: str
    condition: str
    """Tests of the source on the way to it that the algorithm alone does not decide."""

    file: str
    line: int | None
    """None for the whole file."""


@dataclass(frozen=True, slots=True)
class ShownAlgorithm:
    """A speculation algorithm of a build."""

    name: str
    aliases: tuple[str, ...]
    worker: str | None
    """`FILE:CLASS`; None where it could not be told."""

    other_workers: tuple[str, ...]
    """Those that stand in for it under conditions."""

    files: tuple[str, ...]
    """That implement it, relative to the package."""

    lines: int | None
    """Of all of them; None where a file could not be counted."""

    draft_architectures: tuple[str, ...]
    plugin: str | None
    """The distribution that registers it; None for the build's own."""

    restrictions: tuple[ShownRestriction, ...]


@dataclass(frozen=True, slots=True)
class ShownFlag:
    """A flag of the server's command line."""

    name: str
    type: str | None
    """None where the source gives none."""

    default: str | int | float | bool | None
    """None for none; an expression as its source text."""

    choices: tuple[str, ...] | None
    """None where any value is taken."""

    aliases: tuple[str, ...]
    negations: tuple[str, ...]
    is_switch: bool
    nargs: str | None
    """As argparse has it; None for one value or none."""

    is_required: bool
    is_deprecated: bool
    replacement: str
    """What the source says to use instead; empty where it says nothing."""

    file: str
    line: int | None
    """None for the whole file."""

    help: str


@dataclass(frozen=True, slots=True)
class ShownProblem:
    """What could not be read."""

    file: str
    line: int | None
    """None for the whole file."""

    words: str


@dataclass(frozen=True, slots=True)
class Inspected:
    """A source tree."""

    host: str | None
    """None for a directory of this machine."""

    version: str | None
    path: str
    tree_hash: str | None
    """Of the names and contents of its source files."""

    commit: str | None
    """Of an editable checkout, with `-dirty` where its files differ; None for any other."""

    is_editable: bool
    edited: tuple[str, ...] | None
    """Files that are not as pip recorded them; None where nothing was recorded."""

    has_speculation: bool
    installs: tuple[Install, ...]
    algorithms: tuple[ShownAlgorithm, ...]
    flags: tuple[ShownFlag, ...]
    plugins: tuple[str, ...]
    problems: tuple[ShownProblem, ...]
    files: int
    """That were listed."""

    seconds: float
    received_bytes: int
    """Of texts and listings; 0 for a tree that had not changed."""

    is_from_cache: bool
    missing: Reasons


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """What of a tree has a name that fits."""

    pattern: str
    path: str
    files: tuple[str, ...]
    flags: tuple[ShownFlag, ...]
    algorithms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparedTree:
    """One side of a comparison."""

    name: str
    """The host, version or directory that was named."""

    version: str | None
    """None where nothing tells it."""

    path: str
    tree_hash: str | None
    """None where it could not be told."""


@dataclass(frozen=True, slots=True)
class InspectedDifference:
    """What differs between two trees."""

    before: ComparedTree
    after: ComparedTree
    algorithms: Differences
    flags: Differences
    files: Differences
    diff: str | None
    """The unified diff of the one file that was asked for; None without one."""


@dataclass(frozen=True, slots=True)
class SourceMatch:
    """A line that matches."""

    file: str
    line: int
    content: str
    """At most 400 characters of it."""


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file of a tree, or lines of it, or the lines that match a pattern."""

    path: str
    """Of the tree."""

    file: str | None
    """None for a search."""

    line: int | None
    """The line that was asked for; None for the whole file, and for a search."""

    first_line: int | None
    """Of `content`; None for a search."""

    content: str | None
    """None for a search."""

    matches: tuple[SourceMatch, ...]
    truncated: str | None
    """`matches` or `time`: why a search was cut short; None when it was not."""

    searched_files: int | None
    """None without a search."""


def shown_algorithm(one: Algorithm) -> ShownAlgorithm:
    """An algorithm as it is published."""
    return ShownAlgorithm(
        one.name, one.aliases, one.worker, one.other_workers, one.files, one.lines,
        one.draft_architectures, one.plugin,
        tuple(
            ShownRestriction(r.kind, r.effect, r.words, r.condition, r.place.file, r.place.line)
            for r in one.restrictions
        ),
    )  # fmt: skip


def shown_flag(one: Flag) -> ShownFlag:
    """A flag as it is published."""
    return ShownFlag(
        one.name, one.type, one.default, one.choices, one.aliases, one.negations, one.is_switch,
        one.nargs, one.is_required, one.is_deprecated, one.replacement, one.place.file,
        one.place.line, one.help,
    )  # fmt: skip


def shown_problem(one: ReadingProblem) -> ShownProblem:
    """A problem as it is published."""
    return ShownProblem(one.place.file, one.place.line, one.words)


def compared_tree(name: str, tree: Tree) -> ComparedTree:
    """One side of a comparison as it is published."""
    return ComparedTree(name, tree.version, tree.path, tree.tree_hash)
