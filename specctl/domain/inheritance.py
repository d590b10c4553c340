"""What each profile inherits: the chains of `extends`, laid down from their roots.

Every file is laid once: what a profile is made of is that of the one it extends, with its own
values over it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain import flags
from specctl.domain.nearest import nearest
from specctl.domain.problem import Problem
from specctl.domain.profile import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TABLES = ("arguments", "speculation", "env", "placement", "expectation")
"""Tables that merge key by key."""

CIRCLE_NAMES_MOST = 8
"""So many profiles of a circle are named."""

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One profile file whose shape is known to be right."""

    name: str
    file: str
    values: Mapping[str, Any]
    lines: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)
    """Path to the line it was written on."""

    def origin(self, *path: str | int) -> Origin:
        """Where the value at `path` was written."""
        return Origin(self.file, self.lines.get(path))


@dataclass(slots=True)
class Layers:
    """Values laid over each other, flat: `("arguments", "tp-size")` to value and origin."""

    entries: dict[Key, tuple[Any, Origin]] = field(default_factory=dict)
    items: dict[Key, tuple[Origin, ...]] = field(default_factory=dict)
    """Where each item of a list was written."""

    problems: list[Problem] = field(default_factory=list)

    def copy(self) -> Layers:
        """The same, to lay more over."""
        return Layers(dict(self.entries), dict(self.items), list(self.problems))

    def lay(self, document: Document, values: Mapping[str, Any], under: Key = ()) -> None:
        """Put one file's values, or those of one of its `on` tables, over what there is."""
        for dotted in values.get("unset", ()):
            self._unset(document, dotted, under)
        for key, value in values.items():
            if key in TABLES:
                self._lay_table(document, key, value, under)
            elif key not in {"on", "unset", "extends"}:
                self._put((key,), value, document, (*under, key))

    def _lay_table(self, document: Document, table: str, values: Any, under: Key) -> None:
        if table == "speculation" and "algorithm" in values:
            held = self.entries.get((table, "algorithm"))
            if held is not None and held[0] != values["algorithm"]:
                self._drop((table,))
        for key, value in values.items():
            self._put((table, _first_spelling(table, key)), value, document, (*under, table, key))

    def _put(self, key: Key, value: Any, document: Document, path: Key) -> None:
        self.entries[key] = (value, document.origin(*path))
        length = len(value) if isinstance(value, list) else 0
        self.items[key] = tuple(document.origin(*path, number) for number in range(length))

    def _unset(self, document: Document, dotted: str, under: Key) -> None:
        if not self._drop(tuple(dotted.split(".", 1))):
            known = {".".join(key[: i + 1]) for key in self.entries for i in range(len(key))}
            origin = document.origin(*under, "unset")
            message = f"nothing called {dotted} is inherited"
            self.problems.append(
                Problem(origin.file, origin.line, "unset", message, nearest(dotted, known))
            )

    def _drop(self, prefix: Key) -> bool:
        dropped = [key for key in self.entries if key[: len(prefix)] == prefix]
        for key in dropped:
            del self.entries[key]
        return bool(dropped)


def _first_spelling(table: str, key: str) -> str:
    """`tensor-parallel-size` and `tp-size` are one value, so that either overrides the other."""
    if table == "arguments":
        return flags.canonical(key)
    if table == "speculation":
        full = flags.canonical(flags.SPECULATION_PREFIX + key)
        return full.removeprefix(flags.SPECULATION_PREFIX)
    return key


@dataclass(frozen=True, slots=True)
class Inherited:
    """What one profile is made of."""

    problems: tuple[Problem, ...] = ()
    """Why its chain has no end; then there is nothing else."""

    layers: Layers = field(default_factory=Layers)
    """Values of the whole chain, those for single hosts left out: to be copied, not changed."""

    overriding: tuple[Document, ...] = ()
    """The files of the chain with values for single hosts, its root first."""


class Inheritance:
    """The profiles of a workspace by what they inherit, each worked out once, when asked for."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = documents
        self._known: dict[str, Inherited] = {}

    def of(self, name: str) -> Inherited:
        """What a profile is made of; time grows with what of its chain was not asked for."""
        chain: list[str] = []
        places: dict[str, int] = {}
        at: str | None = name
        while at is not None and at not in self._known:
            if at in places:
                self._close_circle(chain[places[at] :])
                del chain[places[at] :]
                break
            places[at] = len(chain)
            chain.append(at)
            at = self._parent(at)
        for child in reversed(chain):
            self._known[child] = self._extended(self.documents[child])
        return self._known[name]

    def _parent(self, name: str) -> str | None:
        parent: str | None = self.documents[name].values.get("extends")
        return parent if parent in self.documents else None

    def _extended(self, document: Document) -> Inherited:
        """One whose parent is known."""
        name = document.values.get("extends")
        if name is not None and name not in self.documents:
            return Inherited((self._missing(document, name),))
        parent = Inherited() if name is None else self._known[name]
        if parent.problems:
            return parent
        layers = parent.layers.copy()
        layers.lay(document, document.values)
        own = (document,) if document.values.get("on") else ()
        return Inherited(layers=layers, overriding=parent.overriding + own)

    def _missing(self, document: Document, name: str) -> Problem:
        origin = document.origin("extends")
        message = f"no usable profile called {name}"
        close = nearest(name, self.documents)
        return Problem(origin.file, origin.line, "extends", message, close)

    def _close_circle(self, names: Sequence[str]) -> None:
        for place, name in enumerate(names):
            shown = [
                names[(place + step) % len(names)]
                for step in range(min(CIRCLE_NAMES_MOST, len(names)))
            ]
            self._known[name] = Inherited((self._circle(name, shown, len(names)),))

    def _circle(self, name: str, shown: Sequence[str], count: int) -> Problem:
        origin = self.documents[name].origin("extends")
        left = [f"{count - len(shown):,} more"] if count > len(shown) else []
        words = " → ".join([*shown, *left, name])
        message = f"profiles extend each other in a circle: {words}"
        return Problem(origin.file, origin.line, "extends", message)
