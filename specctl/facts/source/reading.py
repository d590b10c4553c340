"""A source tree as it is read from its texts alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from specctl.domain.source import Algorithm, Tree
from specctl.facts.source.algorithms import DECLARATIONS, predicates_of, read_declared
from specctl.facts.source.architectures import drafts_of, read_architectures
from specctl.facts.source.closure import Closures
from specctl.facts.source.flags import read_flags
from specctl.facts.source.restrictions import Handlers
from specctl.facts.source.texts import Texts
from specctl.facts.source.versions import read_version
from specctl.facts.source.workers import read_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from specctl.domain.source import Flag, TreeFile
    from specctl.facts.source.algorithms import Declared

T = TypeVar("T")
MODELS = "srt/models/"


@dataclass(frozen=True, slots=True)
class TreeText:
    """What was sent of a tree."""

    path: str
    texts: Mapping[str, str]
    """Whole files, by their path relative to the package."""

    excerpts: Mapping[str, str] = field(default_factory=dict)
    """Files of which only some lines were sent; each stands on the line it has in its file."""

    names: Sequence[str] = ()
    """Of all its files."""


def read_source(found: TreeText, texts: Texts | None = None) -> Tree:
    """Everything that can be told; what cannot is among the problems.

    `texts` are the same texts and excerpts, where some of them were prepared before.
    """
    texts = texts or Texts({**found.excerpts, **found.texts})
    flags = _guarded(texts, "flags", lambda: read_flags(texts))
    algorithms = _guarded(texts, "algorithms", lambda: _algorithms(texts, found, flags))
    has_speculation = bool(texts.below("srt/speculative/")) or bool(algorithms)
    if has_speculation and DECLARATIONS not in texts:
        texts.report(DECLARATIONS, None, "not there: the algorithms of this build are unknown")
    return Tree(
        path=found.path,
        version=read_version(found.texts),
        tree_hash=None,
        algorithms=algorithms,
        flags=flags,
        problems=tuple(texts.problems),
        has_speculation=has_speculation,
    )


def _algorithms(texts: Texts, found: TreeText, flags: tuple[Flag, ...]) -> tuple[Algorithm, ...]:
    declared = read_declared(texts)
    return Reader(texts, found, flags).read(declared) if declared else ()


class Reader:
    """What every algorithm is read with."""

    def __init__(self, texts: Texts, found: TreeText, flags: tuple[Flag, ...]) -> None:
        self._texts, self._found = texts, found
        models = {f: text for f, text in found.excerpts.items() if f.startswith(MODELS)}
        self._architectures = read_architectures(models)
        self._closures = Closures(texts, found.names)
        fields = frozenset(flag.field_name for flag in flags if flag.field_name)
        self._handlers = Handlers(texts, fields)

    def read(self, declared: Sequence[Declared]) -> tuple[Algorithm, ...]:
        """The algorithms in the order of their declaration."""
        return tuple(self._algorithm(one) for one in declared)

    def _algorithm(self, one: Declared) -> Algorithm:
        chosen = predicates_of(self._texts, one)
        worker, others = read_workers(self._texts, one, chosen)
        files = self._closures.of(worker.partition(":")[0]) if worker else ()
        return Algorithm(
            name=one.name,
            aliases=one.aliases,
            worker=worker,
            other_workers=others,
            files=files,
            draft_architectures=drafts_of(one.name, self._architectures),
            restrictions=self._handlers.restrictions(chosen),
            place=one.place,
        )


def complete(tree: Tree, files: Mapping[str, TreeFile], tree_hash: str) -> Tree:
    """A tree that was read before its files were listed, with the list and what follows from it."""
    algorithms = tuple(replace(a, lines=_lines(a.files, files)) for a in tree.algorithms)
    return replace(tree, algorithms=algorithms, files=files, tree_hash=tree_hash)


def _lines(names: Sequence[str], files: Mapping[str, TreeFile]) -> int | None:
    """Of all of them; None where one is not known."""
    counts = [files[name].lines if name in files else None for name in names]
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _guarded(texts: Texts, what: str, read: Callable[[], tuple[T, ...]]) -> tuple[T, ...]:
    """What `read` gives; source nested more deeply than it can be followed is a problem."""
    try:
        return read()
    except RecursionError:
        texts.report("", None, f"nested too deeply: the {what} of this build are unknown")
        return ()
