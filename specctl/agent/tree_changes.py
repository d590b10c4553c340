"""The `tree_changes` op: which version a tree has, and which of its files changed since a moment.

Some tools keep modification times of what they copy: then the inode's change time tells. Not of a
file with several links, where it tells of a link made elsewhere, as uv does for each environment.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import asked
from .installed import find_sglang, source_version
from .interpreters import find_layout
from .protocol import OpError

FILES_MAX = 60_000
EXAMPLES = 3
SLACK_S = 1.0
"""Clocks of file systems are coarse."""


def tree_changes(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """Of the package that `python` started from `folder` would import.

    Params: python, folder (its working directory, or None), age_s (of the server), files (a pattern
    of names; without one no file is looked at), skipped (names of folders).
    Answer: path, version, files, changed, examples, is_truncated.
    """
    path, version = _package(asked.text(params, "python"), asked.optional_text(params, "folder"))
    since_s = time.time() - asked.seconds(params, "age_s", 0.0, 0.0) + SLACK_S
    pattern = asked.optional_text(params, "files")
    if pattern is None:
        return {"path": path, "version": version}
    wanted = re.compile(pattern)
    skipped = frozenset(asked.texts(params, "skipped"))
    seen = 0
    changed: List[Tuple[float, str]] = []
    for name, changed_s in _files(path, skipped):
        if cancelled.is_set() or seen >= FILES_MAX:
            break
        if wanted.search(name):
            seen += 1
            if changed_s > since_s:
                changed.append((changed_s, name))
    changed.sort(key=lambda row: (name_depth(row[1]), row[1]))
    return {
        "path": path,
        "version": version,
        "files": seen,
        "changed": len(changed),
        "examples": [name for _, name in changed[:EXAMPLES]],
        "is_truncated": cancelled.is_set() or seen >= FILES_MAX,
    }


def name_depth(name: str) -> int:
    """How deep in the tree a file lies."""
    return name.count("/")


def _package(python: str, folder: Optional[str]) -> Tuple[str, Optional[str]]:
    """(path, version): of the working directory, which `python -m` looks at first, or installed."""
    if folder is not None:
        package = os.path.join(folder, "sglang")
        if os.path.isdir(os.path.join(package, "srt")):
            return package, source_version(package)
    layout = find_layout(python) if os.path.isfile(python) else None
    found = find_sglang(layout[1]) if layout is not None else None
    if found is None:
        raise OpError("not_found", "%s has no SGLang" % python)
    return found["path"], found["version"]


def _files(root: str, skipped: Any) -> Iterator[Tuple[str, float]]:
    for place, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in skipped]
        for name in names:
            path = os.path.join(place, name)
            try:
                found = os.stat(path)
            except OSError:
                continue
            is_single = found.st_nlink == 1
            changed_s = max(found.st_mtime, found.st_ctime) if is_single else found.st_mtime
            yield os.path.relpath(path, root), changed_s
