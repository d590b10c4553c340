"""Read and write the records of launches on a host."""

from __future__ import annotations

import math
import os
import time
from typing import Any

from . import proc, pruning, statedir

PARTS = ("launch", "ready", "stop", "exit")
READ_MAX = 200
"""The newest launches that are answered; older ones are counted."""


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Do `request["action"]`: `read`, `write`, `adopt` or `forget`."""
    actions = {"read": read, "write": write, "adopt": adopt, "forget": forget}
    return actions[request["action"]](request)


def read(request: dict[str, Any]) -> dict[str, Any]:
    """Every launch of every state directory of this user, newest first."""
    found = [
        _read_one(state_dir, launch_id)
        for state_dir in statedir.candidates(request.get("state_dir"))
        if statedir.is_own(state_dir)
        for launch_id in _list(os.path.join(state_dir, "launches"))
    ]
    known = [item for item in found if _is_of(item["launch"], item["directory"])]
    known.sort(key=lambda item: _started_at_s(item["launch"]), reverse=True)
    return {
        "records": known[:READ_MAX],
        "unreadable": [
            item["directory"] for item in found if not _is_of(item["launch"], item["directory"])
        ],
        "older": max(0, len(known) - READ_MAX),
    }


def _is_of(launch: Any, directory: str) -> bool:
    """A record, and of the launch whose directory it lies in."""
    return isinstance(launch, dict) and launch.get("launch_id") == os.path.basename(directory)


def _started_at_s(launch: dict[str, Any]) -> float:
    """What is not known, or no time, comes last."""
    value = launch.get("started_at_s")
    if isinstance(value, (int, float)) and -math.inf < value < math.inf:
        return value
    return -math.inf


def _list(path: str) -> list[str]:
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def _read_one(state_dir: str, launch_id: str) -> dict[str, Any]:
    directory = os.path.join(state_dir, "launches", launch_id)
    parts = {part: statedir.read_json(os.path.join(directory, part + ".json")) for part in PARTS}
    return {"state_dir": state_dir, "directory": directory, **parts, **_surroundings(parts)}


def _surroundings(parts: dict[str, Any]) -> dict[str, bool]:
    """What may have ended together with a server whose end nobody recorded."""
    launch = parts["launch"] if isinstance(parts["launch"], dict) else {}
    identity = launch.get("identity")
    booted = identity.get("boot_id") if isinstance(identity, dict) else None
    return {
        "host_restarted": booted is not None and booted != proc.boot_id(),
        "session_closed": proc.is_session_closed(launch.get("login_session")),
    }


def write(request: dict[str, Any]) -> dict[str, Any]:
    """Write the part `ready` or `stop` of one launch."""
    part = request["part"]
    if part not in ("ready", "stop"):
        raise ValueError("%r is not a part that an operator writes" % part)
    directory = statedir.launch_dir(request["state_dir"], request["launch_id"])
    value = {"schema": "specctl/%s/1" % part, "time_s": time.time(), **request["value"]}
    statedir.write_json(os.path.join(directory, part + ".json"), value)
    return {}


def adopt(request: dict[str, Any]) -> dict[str, Any]:
    """Record a running process and those around it as a server under care."""
    if int(request["pid"]) <= proc.INIT:
        raise ValueError("pid 1 cannot be stopped alone, so it is not put under care")
    stat = proc.read_stat(int(request["pid"]))
    if stat is None or stat.is_zombie:
        raise ValueError("there is no process %s" % request["pid"])
    if stat.start_ticks != request["start_ticks"]:
        raise ValueError("pid %s now belongs to another process" % request["pid"])
    target = proc.identity(stat, proc.read_marker(stat.pid) or "")
    members = [proc.identity(member, "") for member in proc.find_members(target, [])]
    os.umask(0o077)
    state_dir, _ = statedir.choose(request.get("state_dir"))
    directory = statedir.launch_dir(state_dir, request["launch_id"])
    os.makedirs(directory, mode=0o700)
    record = {
        **request["record"],
        "schema": "specctl/launch/1",
        "launch_id": request["launch_id"],
        "identity": target,
        "members": members,
        "uid": proc.read_uid(stat.pid),
        "login_session": proc.read_login_session(stat.pid),
        "started_at_s": proc.started_at_s(stat),
        "is_adopted": True,
    }
    statedir.write_json(os.path.join(directory, "launch.json"), record)
    pruning.prune(state_dir)
    return {"state_dir": state_dir, "directory": directory, "identity": target}


def forget(request: dict[str, Any]) -> dict[str, Any]:
    """Remove what may still hold keys, once the server has read its arguments."""
    directory = statedir.launch_dir(request["state_dir"], request["launch_id"])
    try:
        os.unlink(os.path.join(directory, "keys.yaml"))
    except FileNotFoundError:
        return {"removed": False}
    return {"removed": True}
