"""Where a workspace is, and the names in it: nothing here reads a file's content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.adapters import paths

if TYPE_CHECKING:
    from pathlib import Path

    from specctl.adapters.overlay import Overlay

REMOTES, PROFILES = "remotes", "profiles"
VARIABLE = "SPECCTL_WORKSPACE"


def root_around(start: Path, *, has_lab: bool) -> Path | None:
    """The nearest directory upwards with `remotes/`, else the user's own one, which a lab makes up.

    None where there is neither.
    """
    for directory in (start, *start.parents):
        if (directory / REMOTES).is_dir():
            return directory
    own = paths.own_workspace()
    return own if has_lab or (own / REMOTES).is_dir() else None


def visible_files(folder: Path) -> list[Path]:
    """The TOML files of a folder, hidden ones left out."""
    return [path for path in sorted(folder.glob("*.toml")) if not path.name.startswith(".")]


def names_in(root: Path | None, overlay: Overlay | None, folder: str) -> tuple[str, ...]:
    """Of the files of a folder, and of what a lab that is up has beside them."""
    roots = [one for one in (root, overlay.root if overlay else None) if one is not None]
    found = (path.stem for one in roots for path in visible_files(one / folder))
    return tuple(dict.fromkeys(found))


def mark_of(root: Path, overlay: Overlay | None) -> tuple[tuple[str, int], ...]:
    """What changes when a file of a host is written, added or removed, or a lab comes or goes."""
    roots = [root, *([overlay.root] if overlay else [])]
    files = [path for one in roots for path in visible_files(one / REMOTES)]
    times = ((str(path), paths.written_ns(path)) for path in files)
    return tuple((name, at_ns) for name, at_ns in times if at_ns is not None)
