"""What can be shown before anything heavy is imported: where the workspace is, and its hosts."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from specctl.adapters.overlay import read_overlay
from specctl.adapters.workspace_root import REMOTES, VARIABLE, root_around
from specctl.domain.errors import UsageError


@dataclass(frozen=True, slots=True)
class Glance:
    """A workspace from afar; what is in its files is read later."""

    root: Path
    hosts: tuple[str, ...]


def glance(start: Path, chosen: str | None) -> Glance | None:
    """The workspace that `find_workspace` would open, None when there is none.

    Raises UsageError when one was asked for that is no directory.
    """
    asked = chosen or os.environ.get(VARIABLE)
    if asked:
        root = Path(asked).expanduser()
        if not root.is_dir():
            raise UsageError(f"{asked} is not a directory", hint=f"specctl init {asked}")
        return Glance(root.absolute(), _names(root))
    folder = root_around(start, has_lab=read_overlay() is not None)
    return Glance(folder, _names(folder)) if folder is not None else None


def _names(root: Path) -> tuple[str, ...]:
    lab = read_overlay()
    roots = [root, lab.root] if lab is not None else [root]
    found = [path for one in roots for path in (one / REMOTES).glob("*.toml")]
    return tuple(sorted({path.stem for path in found if not path.name.startswith(".")}))
