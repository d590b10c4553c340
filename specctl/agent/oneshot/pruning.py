"""Old launches removed, records and logs, so that what a host keeps of them stays bounded."""

from __future__ import annotations

import os
import shutil
import time
from typing import Any

from . import proc, statedir

KEPT = 200
"""The newest launches stay whatever became of them; of the older ones those that live."""

AT_ONCE = 50
"""Whoever removes is starting a server, and is waited for."""

UNFINISHED_S = 3600.0
"""A directory without a record may be a launch under way."""


def prune(state_dir: str, kept: int = KEPT) -> list[str]:
    """Remove the oldest launches that have ended; their ids."""
    old = _newest_first(os.path.join(state_dir, "launches"))[kept:]
    if not old:
        return []
    living = Living()
    ended = [entry for entry in reversed(old) if _has_ended(entry, living)][:AT_ONCE]
    for entry in ended:
        shutil.rmtree(entry.path, ignore_errors=True)
    return [entry.name for entry in ended]


def _newest_first(path: str) -> list[os.DirEntry[str]]:
    """The directories of launches, by when a file was last added to them."""
    try:
        with os.scandir(path) as entries:
            found = [entry for entry in entries if _is_launch(entry)]
            return sorted(found, key=_changed_s, reverse=True)
    except OSError:
        return []


def _is_launch(entry: os.DirEntry[str]) -> bool:
    return statedir.is_launch_id(entry.name) and entry.is_dir(follow_symlinks=False)


def _changed_s(entry: os.DirEntry[str]) -> float:
    return entry.stat(follow_symlinks=False).st_mtime


def _has_ended(entry: os.DirEntry[str], living: Living) -> bool:
    record = statedir.read_json(os.path.join(entry.path, "launch.json"))
    if living.has_marker(entry.name):
        return False
    if not isinstance(record, dict):
        return time.time() - _changed_s(entry) > UNFINISHED_S
    members = record.get("members")
    known = [record.get("identity"), *(members if isinstance(members, list) else [])]
    return not any(isinstance(one, dict) and living.has(one) for one in known)


class Living:
    """What lives on this host at one moment."""

    def __init__(self) -> None:
        """Look once: markers, processes and groups."""
        processes = [found for found in proc.read_all().values() if not found.is_zombie]
        self._boot_id = proc.boot_id()
        self._markers = {proc.read_marker(found.pid) for found in processes}
        self._processes = {(found.pid, found.start_ticks) for found in processes}
        self._groups = {(found.pgid, found.sid) for found in processes}

    def has_marker(self, launch_id: str) -> bool:
        """A process of that launch lives."""
        return launch_id in self._markers

    def has(self, identity: dict[str, Any]) -> bool:
        """The process lives, or its group may."""
        if identity.get("boot_id") != self._boot_id:
            return False
        process = (identity.get("pid"), identity.get("start_ticks"))
        group = (identity.get("pgid"), identity.get("sid"))
        return process in self._processes or group in self._groups
