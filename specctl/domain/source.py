"""What was read from an installed SGLang source tree, without importing it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.missing import Missing


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the tree."""

    file: str
    """Relative to the package, e.g. `srt/server_args.py`."""

    line: int | None = None
    """Counted from 1; None for the whole file."""

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Flag:
    """A command-line flag as the tree declares it."""

    name: str
    """With its dashes, e.g. `--speculative-num-steps`."""

    type: str | None
    """`str`, `int`, `float`, `bool`, `json` or what the tree calls it; None where it gives none."""

    default: str | int | float | bool | None = None
    """As the tree says; where it is an expression, its source text."""

    choices: tuple[str, ...] | None = None
    aliases: tuple[str, ...] = ()
    place: Place = field(default_factory=lambda: Place(""))
    help: str = ""
    is_switch: bool = False
    """Takes no value."""

    takes_many: bool = False
    """Takes several values (`nargs`)."""

    is_deprecated: bool = False
    field_name: str = ""
    """Of the resolved arguments, e.g. `speculative_num_steps`."""

    negations: tuple[str, ...] = ()
    """Spellings that switch it off, e.g. `--no-speculative-x`."""

    is_required: bool = False
    nargs: str | None = None
    """As argparse has it: `?`, `*`, `+` or a number; None for exactly one value, or none."""

    replacement: str = ""
    """Of a deprecated flag: what the tree says to use instead."""

    refusal: str = ""
    """Of a retired flag that the parser still knows: the words with which it is refused."""

    how: str = "argparse"
    """`argparse`, `annotated` or `msgspec`: how the tree declares it."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every spelling that the command line takes."""
        return (self.name, *self.aliases, *self.negations)


@dataclass(frozen=True, slots=True)
class Restriction:
    """Something an algorithm refuses or rewrites, found in the source."""

    kind: str
    """`device`, `dp-attention`, `pipeline`, `overlap`, `mixed-chunk`, `page-size`, `backend`, …"""

    words: str
    """The tree's own, expressions in braces; of an assertion without words, its condition."""

    place: Place
    effect: str = "refused"
    """`refused`, `asserted` or `warned` (and mostly rewritten)."""

    condition: str = ""
    """Under which tests of the source, outermost first, joined by ` and `."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """One file of the tree, read or not."""

    size: int
    digest: str | None
    """Of its bytes (BLAKE2b, 128 bits, hex); None where it was too large or could not be read."""

    lines: int | None = None


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A speculation algorithm that the tree offers."""

    name: str
    aliases: tuple[str, ...] = ()
    worker: str | None = None
    """`FILE:CLASS` of the most specific worker; None where none could be told."""

    other_workers: tuple[str, ...] = ()
    """`FILE:CLASS` of those that stand in for it under conditions, e.g. without overlap."""

    files: tuple[str, ...] = ()
    """The module-level import closure of its worker, and its C++ and kernel files."""

    lines: int | None = None
    """Of all its files together, blank ones and comments included."""

    draft_architectures: tuple[str, ...] = ()
    restrictions: tuple[Restriction, ...] = ()
    plugin: str | None = None
    """The distribution that registers it; None for the tree's own."""

    place: Place | None = None


@dataclass(frozen=True, slots=True)
class ReadingProblem:
    """What of the tree could not be read, and what is therefore unknown."""

    place: Place
    words: str


@dataclass(frozen=True, slots=True)
class Tree:
    """An installed source tree as it was read."""

    path: str
    """Of the package on its machine; ends in `/sglang`."""

    version: str | None
    tree_hash: str | None
    """Of the files that were looked at: the same text, the same hash."""

    algorithms: tuple[Algorithm, ...] = ()
    flags: tuple[Flag, ...] = ()
    problems: tuple[ReadingProblem, ...] = ()
    commit: str | None = None
    """Of an editable checkout, `-dirty` when its files differ from it."""

    is_editable: bool = False
    missing: Mapping[str, Missing] = field(default_factory=dict)
    """Why what is None could not be known."""

    files: Mapping[str, TreeFile] = field(default_factory=dict)
    """Every source file that was found, by its path relative to the package."""

    edited: tuple[str, ...] | None = None
    """Files that are not as they were installed; None where no record says how they were."""

    plugins: tuple[str, ...] = ()
    """Distributions that extend it, as `NAME: ENTRY POINT`."""

    has_speculation: bool = True
    """False where the build has none at all (before 0.4.2)."""

    @property
    def has_all_flags(self) -> bool:
        """False where a flag that every build has was not found: others are missing, too."""
        wanted = ("--model-path", *(("--speculative-algorithm",) * self.has_speculation))
        return all(self.flag(name) is not None for name in wanted)

    @property
    def short_hash(self) -> str:
        """The first 12 digits of the tree hash, or `—`."""
        return self.tree_hash[:12] if self.tree_hash else "—"

    def flag(self, name: str) -> Flag | None:
        """The flag with this exact name, alias or negation."""
        return next((f for f in self.flags if name in f.names), None)

    def algorithm(self, name: str) -> Algorithm | None:
        """By name or alias, in any case."""
        wanted = name.upper()
        return next((a for a in self.algorithms if wanted in (a.name, *a.aliases)), None)


@dataclass(frozen=True, slots=True)
class Install:
    """One SGLang of a host."""

    python: str | None
    """The interpreter it belongs to; None for a directory that was named."""

    path: str
    version: str | None
    how: str
    """`installed` or `editable`."""

    is_active: bool
    """The one that would be launched."""
