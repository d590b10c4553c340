"""/dev/shm: how full it is, and whose files fill it."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Tuple

from .files import file_system
from .hello import user_name

ENTRIES_MAX = 20_000
OWNERS_MAX = 4
BLOCK_BYTES = 512
"""Of st_blocks, whatever the file system's own size (stat(2))."""


def read_shm(path: str = "/dev/shm") -> Dict[str, Any]:
    """Its size and the owners who take most of it, largest first."""
    total, free = file_system(path)
    owners, is_cut = _owners(path)
    return {
        "path": path,
        "total": total,
        "free": free,
        "is_mount": os.path.ismount(path),
        "owners": owners,
        "is_cut": is_cut,
    }


def _owners(path: str) -> Tuple[List[Dict[str, Any]], bool]:
    sizes: Dict[int, List[int]] = {}
    with os.scandir(path) as entries:
        for number, entry in enumerate(entries):
            if number >= ENTRIES_MAX:
                return _largest(sizes), True
            try:
                found = entry.stat(follow_symlinks=False)
            except OSError:  # removed since it was listed
                continue
            mine = sizes.setdefault(found.st_uid, [0, 0])
            mine[0] += found.st_blocks * BLOCK_BYTES
            mine[1] += 1
    return _largest(sizes), False


def _largest(sizes: Dict[int, List[int]]) -> List[Dict[str, Any]]:
    rows = sorted(sizes.items(), key=lambda row: -row[1][0])[:OWNERS_MAX]
    return [
        {"uid": uid, "owner": user_name(uid), "bytes": size, "files": count}
        for uid, (size, count) in rows
    ]
