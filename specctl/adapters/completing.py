"""What a shell can complete without asking a host: names of files, of kept runs, of trees.

Only what is quick to import is imported: this runs at every press of the tab key. Whatever cannot
be read offers nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.adapters import paths
from specctl.adapters.overlay import read_overlay
from specctl.adapters.ssh_names import aliases
from specctl.adapters.workspace_root import PROFILES, REMOTES, VARIABLE, names_in, root_around

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specctl.domain.completion import Shape

SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""Such a word means the same in every shell, quoted or not."""

RUNS_MAX = 50
TREES_MAX = 8
TREE_BYTES_MAX = 16 << 20
LEDGER_WAIT_S = 0.02


def find_words(kind: str, chosen: str | None) -> dict[str, str]:
    """Word to a note beside it, for one kind; `chosen` is the workspace asked for."""
    found = _FINDERS[kind](chosen) if kind in _FINDERS else {}
    return {word: note for word, note in found.items() if SAFE.fullmatch(word)}


def _names(chosen: str | None, folder: str) -> dict[str, str]:
    overlay, asked = read_overlay(), chosen or os.environ.get(VARIABLE)
    here = root_around(Path.cwd(), has_lab=overlay is not None)
    root = Path(asked).expanduser() if asked else here
    lab = set(names_in(None, overlay, folder)) - set(names_in(root, None, folder))
    return {name: "SIMULATED" if name in lab else "" for name in names_in(root, overlay, folder)}


def _hosts(chosen: str | None) -> dict[str, str]:
    return _names(chosen, REMOTES)


def _profiles(chosen: str | None) -> dict[str, str]:
    return _names(chosen, PROFILES)


def _runs(_chosen: str | None) -> dict[str, str]:
    """The newest first; the file is not waited for."""
    import sqlite3

    from specctl.adapters.ledger_reading import reading_ledger

    query = "SELECT id, kind, host, profiles FROM runs ORDER BY began_s DESC LIMIT ?"
    try:
        with reading_ledger(LEDGER_WAIT_S) as ledger:
            rows = ledger.execute(query, (RUNS_MAX,)).fetchall() if ledger else []
    except sqlite3.Error:
        return {}
    return {
        str(run): " ".join(filter(None, (kind, host, _listed(names))))
        for run, kind, host, names in rows
    }


def _listed(names: str) -> str:
    try:
        return " ".join(map(str, json.loads(names)))
    except (ValueError, TypeError):
        return ""


def _algorithms(_chosen: str | None) -> dict[str, str]:
    """Of the trees that were looked at last."""
    found: dict[str, str] = {}
    for file in _newest((paths.cache_dir() / "trees").glob("*.tree"))[:TREES_MAX]:
        for row in _tree(file).get("algorithms") or ():
            if isinstance(row, dict):
                found.setdefault(str(row.get("name")), "")
    return found


def _newest(files: Iterable[Path]) -> list[Path]:
    times = ((paths.written_ns(file), file) for file in files)
    return [file for _, file in sorted((one for one in times if one[0] is not None), reverse=True)]


def _tree(file: Path) -> dict[str, Any]:
    try:
        unpacked = zlib.decompressobj().decompress(file.read_bytes(), TREE_BYTES_MAX)
        tree = json.loads(unpacked).get("tree")
    except (OSError, ValueError, zlib.error, AttributeError):
        return {}
    return tree if isinstance(tree, dict) else {}


def _aliases(_chosen: str | None) -> dict[str, str]:
    return dict.fromkeys(aliases(), "")


_FINDERS: Mapping[str, Callable[[str | None], dict[str, str]]] = {
    "host": _hosts, "profile": _profiles, "run": _runs, "algorithm": _algorithms,
    "alias": _aliases,
}  # fmt: skip


# ---------------------------------------------------------------- the shape of the command line


def shape_file(package: Path) -> Path:
    """Where the shape of the command line is kept, by the age of the files that make it up."""
    newest = max(entry.stat().st_mtime_ns for entry in os.scandir(package / "cli"))
    return paths.cache_dir() / f"completion-{newest:x}.json"


def read_shape(file: Path) -> Shape | None:
    """As it was kept; None where it was not, or is damaged."""
    try:
        shape = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    return shape if isinstance(shape, dict) else None


def keep_shape(file: Path, shape: Shape) -> None:
    """Keep it and drop the others; a cache that cannot be written is no failure."""
    beside = file.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(json.dumps(shape), encoding="utf-8")
        beside.replace(file)
        for old in set(file.parent.glob("completion-*")) - {file}:
            old.unlink(missing_ok=True)
