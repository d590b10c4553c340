"""The `processes` op: what /proc says of the processes that matter, and of all below them."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Pattern, Set

from . import asked, proc, sockets
from .hello import boot_id, user_name
from .protocol import OpError

MARKER = "SPECCTL_LAUNCH"
"""The variable that specctl sets in the environment of what it launches."""


class Seen(NamedTuple):
    """What one pass over /proc notes of every process."""

    stat: proc.Stat
    argv: List[str]
    uid: int


def processes(params: Dict[str, Any], cancelled: Any) -> Dict[str, Any]:
    """The processes that match a pattern or pid or carry the marker, and their descendants."""
    del cancelled
    patterns = _compile(asked.texts(params, "patterns"))
    everything = _look()
    chosen = {pid for pid, seen in everything.items() if _matches(seen, patterns)}
    chosen.update(pid for pid in asked.integers(params, "pids") if pid in everything)
    chosen.update(pid for pid, seen in everything.items() if _is_marked(pid, seen))
    chosen.discard(os.getpid())
    chosen = _with_descendants(chosen, everything)
    names = asked.texts(params, "environment")
    ports = _listening(chosen)
    rows = [_row(pid, everything[pid], names, ports.get(pid, {})) for pid in sorted(chosen)]
    return {
        "boot_id": boot_id(),
        "clock_ticks": os.sysconf("SC_CLK_TCK"),
        "processes": rows,
    }


def _compile(patterns: Iterable[str]) -> List[Pattern[str]]:
    try:
        return [re.compile(pattern) for pattern in patterns]
    except re.error as error:
        raise OpError("bad_request", "not a regular expression: %s" % error) from error


def _look() -> Dict[int, Seen]:
    found: Dict[int, Seen] = {}
    for pid in proc.pids():
        stat, uid = proc.stat(pid), proc.uid(pid)
        if stat is not None and uid is not None and not proc.is_practice(pid):
            found[pid] = Seen(stat, proc.argv(pid), uid)
    return found


def _matches(seen: Seen, patterns: List[Pattern[str]]) -> bool:
    joined = " ".join(seen.argv)
    title = proc.title(seen.stat.comm, seen.argv)
    return any(pattern.search(joined) or pattern.search(title) for pattern in patterns)


def _is_marked(pid: int, seen: Seen) -> bool:
    if os.geteuid() not in (0, seen.uid) or not seen.argv:
        return False
    return MARKER in (proc.environment(pid) or {})


def _with_descendants(chosen: Set[int], everything: Dict[int, Seen]) -> Set[int]:
    children: Dict[int, List[int]] = {}
    for pid, seen in everything.items():
        children.setdefault(seen.stat.ppid, []).append(pid)
    found: Set[int] = set()
    todo = list(chosen)
    while todo:
        pid = todo.pop()
        if pid not in found:
            found.add(pid)
            todo.extend(children.get(pid, ()))
    return found - {os.getpid()}


def _listening(pids: Set[int]) -> Dict[int, Dict[int, str]]:
    """Per process its TCP ports and the address each is bound to."""
    tables: Dict[Optional[str], Dict[str, sockets.Listener]] = {}
    found: Dict[int, Dict[int, str]] = {}
    for pid in pids:
        held = [target for target in proc.descriptors(pid) if target.startswith("socket:")]
        if not held:
            continue
        namespace = proc.link(pid, "ns/net")
        if namespace not in tables:
            rows = sockets.listeners(pid)
            tables[namespace] = {"socket:[%d]" % row.inode: row for row in rows}
        rows_held = [tables[namespace][target] for target in held if target in tables[namespace]]
        found[pid] = {row.port: row.address for row in rows_held}
    return found


def _row(pid: int, seen: Seen, names: List[str], ports: Dict[int, str]) -> Dict[str, Any]:
    environment = proc.environment(pid)
    uptime = proc.uptime_s()
    started = seen.stat.start_ticks / os.sysconf("SC_CLK_TCK")
    return {
        "pid": pid,
        "ppid": seen.stat.ppid,
        "pgid": seen.stat.pgid,
        "sid": seen.stat.sid,
        "start_ticks": seen.stat.start_ticks,
        "uid": seen.uid,
        "user": user_name(seen.uid),
        "argv": seen.argv,
        "title": proc.title(seen.stat.comm, seen.argv),
        "cwd": proc.link(pid, "cwd"),
        "exe": proc.link(pid, "exe"),
        "listening": sorted(ports),
        "listening_addresses": {str(port): address for port, address in ports.items()},
        "stdout": proc.link(pid, "fd/1"),
        "stderr": proc.link(pid, "fd/2"),
        "environment": None
        if environment is None
        else {name: environment[name] for name in names if name in environment},
        "age_s": None if uptime is None else max(0.0, uptime - started),
        "state": seen.stat.state,
        "rss_bytes": seen.stat.rss_pages * os.sysconf("SC_PAGE_SIZE"),
        "pid_namespace": proc.link(pid, "ns/pid"),
    }
