"""The files of a tree as a list that folds, and what a search found in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

from specctl.tui.render.lines import Line, middle, spread
from specctl.tui.render.listing import holds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.source import Algorithm, Tree, TreeFile
    from specctl.tui.reading import Hit

OWN = "*"
"""The folded group of the chosen algorithm's files."""

THOUSAND = 1000


@dataclass(frozen=True, slots=True)
class Entry:
    """One row: a folder or a file."""

    path: str
    """Relative to the package; of a folder, with a slash at the end."""

    depth: int
    is_folder: bool = False
    is_open: bool = False
    count: int = 0
    """Files below a folder."""

    is_own: bool = False
    """A file of the chosen algorithm."""


@dataclass(slots=True)
class Folder:
    """A folder with what lies in it, by name."""

    folders: dict[str, Folder] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    count: int = 0


def folder_of(paths: Iterable[str]) -> Folder:
    """The paths as folders in folders."""
    top = Folder()
    for path in sorted(paths):
        *folders, name = path.split("/")
        at = top
        at.count += 1
        for folder in folders:
            at = at.folders.setdefault(folder, Folder())
            at.count += 1
        at.files.append(name)
    return top


def entries(
    tree: Tree, top: Folder, algorithm: Algorithm | None, opened: set[str], terms: str
) -> list[Entry]:
    """The rows: the algorithm's own files, then the tree; with a filter every path that matches."""
    own = set(algorithm.files) if algorithm else set()
    if terms:
        found = [path for path in sorted(tree.files) if holds(path, terms)]
        return [Entry(path, 0, is_own=path in own) for path in found]
    out: list[Entry] = []
    if algorithm is not None and own:
        is_open = OWN in opened
        out.append(Entry(OWN, 0, is_folder=True, is_open=is_open, count=len(own)))
        if is_open:
            out += [Entry(path, 1, is_own=True) for path in algorithm.files]
    return [*out, *_below(top, "", 0, opened, own)]


def _below(folder: Folder, path: str, depth: int, opened: set[str], own: set[str]) -> list[Entry]:
    out: list[Entry] = []
    for name, inner in folder.folders.items():
        where = f"{path}{name}/"
        is_open = where in opened
        out.append(Entry(where, depth, is_folder=True, is_open=is_open, count=inner.count))
        if is_open:
            out += _below(inner, where, depth + 1, opened, own)
    return [*out, *(Entry(path + name, depth, is_own=path + name in own) for name in folder.files)]


def entry_line(
    entry: Entry, files: Mapping[str, TreeFile], algorithm: str, cells: int, *, is_flat: bool
) -> Line:
    """One row of the list."""
    indent = "  " * entry.depth
    if entry.is_folder:
        mark = "▾ " if entry.is_open else "▸ "
        name = algorithm if entry.path == OWN else entry.path.rstrip("/").rpartition("/")[2] + "/"
        tone = "title" if entry.path == OWN else "text"
        right: Line = [(f"{entry.count:,} files" if entry.count != 1 else "1 file", "faint")]
        return spread([(indent, ""), (mark, "faint"), (name, tone)], right, cells)
    whole = is_flat or (entry.depth == 1 and entry.is_own)
    name = entry.path if whole else entry.path.rpartition("/")[2]
    size = _size(files.get(entry.path))
    room = max(4, cells - len(indent) - 2 - sum(len(t) for t, _ in size) - 2)
    mark = "· " if entry.is_own else "  "
    return spread(
        [(indent, ""), (mark, "data"), (middle(name, room), "text" if entry.is_own else "dim")],
        size,
        cells,
    )


def _size(file: TreeFile | None) -> Line:
    if file is None:
        return []
    if file.lines is not None:
        return [(f"{file.lines:,}", "dim"), (" lines", "faint")]
    size = file.size
    text = f"{size / 1024:,.0f} KiB" if size >= THOUSAND else f"{size} B"
    return [(text, "faint")]


def hit_line(hit: Hit, cells: int, *, names_file: bool) -> Line:
    """A line that was found; its file is named where it differs from the one above."""
    name = hit.place.file.rpartition("/")[2]
    named = middle(f"{name}:{hit.place.line}", max(12, cells // 3))
    where = named if names_file else f"{f':{hit.place.line}':>{cell_len(named)}}"
    return [(where + "  ", "accent" if names_file else "faint"), (hit.text.strip(), "text")]
