"""What the source screen has before it: one host's tree, the files read of it, what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.render.files import OWN, Entry, Folder, entries, folder_of
from specctl.tui.render.listing import holds
from specctl.tui.render.source import Said, ordered_flags, said_of, usual_file

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.domain.source import Algorithm, Flag, Place, Tree
    from specctl.tui.reading import Hits
    from specctl.tui.render.syntax import Code


class SourceDesk:
    """Kept for as long as the app lives, so that coming back shows what was there."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.tree: Tree | None = None
        self.error: SpecctlError | None = None
        """Why there is no tree."""

        self.since_s = 0.0
        """When the reading began that is under way."""

        self.is_reading = False
        self.codes: dict[str, Code] = {}
        self.errors: dict[str, SpecctlError] = {}
        """Files that could not be read."""

        self.place: Place | None = None
        """What the viewer is to show."""

        self.hits: Hits | None = None
        self.finding = ""
        """The pattern being searched for; empty when none is."""

        self.algorithm: Algorithm | None = None
        self.said: list[Said] = []
        self.usual_file = ""
        self.flags: list[Flag] = []
        self.own_flags = 0
        self.entries: list[Entry] = []
        self._opened: set[str] = {OWN}
        self._top = Folder()
        self._terms = {"flags": "", "files": ""}

    @property
    def name(self) -> str:
        """The host, and the version of its build."""
        version = self.tree.version if self.tree else None
        return f"{self.host} {version}" if version else self.host

    @property
    def tree_hash(self) -> str | None:
        """Of the tree; None while there is none."""
        return self.tree.tree_hash if self.tree else None

    def take(self, tree: Tree) -> None:
        """A tree was read; what was read of an earlier one goes when it differs."""
        if self.tree is None or self.tree.tree_hash != tree.tree_hash:
            self.codes.clear()
            self.hits = None
        self.errors.clear()
        self.tree, self.error = tree, None
        self._top = folder_of(tree.files)
        name = self.algorithm.name if self.algorithm else ""
        self.choose(tree.algorithm(name) or next(iter(tree.algorithms), None))

    def choose(self, algorithm: Algorithm | None) -> None:
        """Turn to another algorithm."""
        self.algorithm = algorithm
        if self.tree is not None:
            self.said = said_of(self.tree, algorithm)
            self.usual_file = usual_file(self.said)
        self._sort()

    def narrow(self, what: str, terms: str) -> None:
        """Filter the `flags` or the `files`."""
        self._terms[what] = terms
        self._sort()

    @property
    def is_flat(self) -> bool:
        """Files are shown with their whole paths."""
        return bool(self._terms["files"])

    def fold(self, path: str) -> None:
        """Open or close a folder."""
        self._opened ^= {path}
        self._sort()

    def _sort(self) -> None:
        tree = self.tree
        if tree is None:
            return
        shown = tree.flags
        terms = self._terms["flags"]
        if terms:
            shown = tuple(f for f in shown if holds(f"{' '.join(f.names)} {f.help}", terms))
        self.flags, self.own_flags = ordered_flags(shown, self.algorithm)
        self.entries = entries(tree, self._top, self.algorithm, self._opened, self._terms["files"])
