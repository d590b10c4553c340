"""Processes as /proc shows them, and which of them belong to a server."""

from __future__ import annotations

import os
import re
from typing import Any

BOOT_ID = "/proc/sys/kernel/random/boot_id"
LOGIN_SESSION = re.compile(r"/session-([A-Za-z0-9]+)\.scope(?:/|$)", re.MULTILINE)
OPEN_SESSIONS = "/run/systemd/sessions"
MARKER = b"SPECCTL_LAUNCH="
INIT = 1
"""Ancestor of everything in a pid namespace: what descends from it belongs to no one server."""


class Stat:
    """The fields of /proc/PID/stat that tell processes apart (proc(5))."""

    __slots__ = ("pgid", "pid", "ppid", "sid", "start_ticks", "state", "title")

    def __init__(self, pid: int, text: str) -> None:
        """Read the line; the title stands in parentheses and may hold any character."""
        title, _, rest = text.partition("(")[2].rpartition(")")
        fields = rest.split()
        self.pid, self.title, self.state = pid, title, fields[0]
        self.ppid, self.pgid, self.sid = int(fields[1]), int(fields[2]), int(fields[3])
        self.start_ticks = int(fields[19])

    @property
    def is_zombie(self) -> bool:
        """It has ended; only its exit status is still kept."""
        return self.state in ("Z", "X")


def boot_id() -> str:
    """What tells this start of the kernel from every other."""
    with open(BOOT_ID, encoding="ascii") as file:
        return file.read().strip()


def read_stat(pid: int) -> Stat | None:
    """The process `pid`, or None when there is none."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            return Stat(pid, file.read().decode("utf-8", "replace"))
    except (OSError, IndexError, ValueError):
        return None


def started_at_s(stat: Stat) -> float | None:
    """When a process started, by this host's clock; None where the kernel's start is not told."""
    try:
        with open("/proc/stat", encoding="ascii", errors="replace") as file:
            booted = next(line.split()[1] for line in file if line.startswith("btime "))
        return int(booted) + stat.start_ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, StopIteration, ValueError):
        return None


def read_all() -> dict[int, Stat]:
    """Every process of this pid namespace."""
    found = (read_stat(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return {stat.pid: stat for stat in found if stat is not None}


def read_uid(pid: int) -> int | None:
    """The user a process runs as, or None when it is gone."""
    try:
        return os.stat("/proc/%d" % pid).st_uid
    except OSError:
        return None


def read_marker(pid: int) -> str | None:
    """SPECCTL_LAUNCH of a process: empty without one, None when it cannot be read."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            items = file.read().split(b"\0")
    except OSError:
        return None
    found = next((item for item in items if item.startswith(MARKER)), MARKER)
    return found[len(MARKER) :].decode("ascii", "replace")


def read_argv(pid: int) -> list[str]:
    """The command line of a process; empty when it has none that can be read."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return [item.decode("utf-8", "replace") for item in file.read().split(b"\0")[:-1]]
    except OSError:
        return []


def read_login_session(pid: int) -> str | None:
    """The login session whose control group holds a process, as systemd-logind calls it."""
    try:
        with open("/proc/%d/cgroup" % pid, encoding="utf-8", errors="replace") as file:
            return login_session_of(file.read())
    except OSError:
        return None


def login_session_of(cgroups: str) -> str | None:
    """`42` of `0::/user.slice/user-1000.slice/session-42.scope`; None outside a session."""
    found = LOGIN_SESSION.search(cgroups)
    return found.group(1) if found else None


def is_session_closed(session: str | None) -> bool:
    """It was open once and logind has it no more; False where logind does not run."""
    if session is None or not os.path.isdir(OPEN_SESSIONS):
        return False
    return not os.path.exists(os.path.join(OPEN_SESSIONS, session))


def identity(stat: Stat, marker: str) -> dict[str, Any]:
    """What is recorded of a process, to know it again."""
    return {
        "boot_id": boot_id(),
        "pid": stat.pid,
        "start_ticks": stat.start_ticks,
        "pgid": stat.pgid,
        "sid": stat.sid,
        "marker": marker,
    }


def mismatch(target: dict[str, Any]) -> str:
    """Why the process with the target's pid is not the target; empty when it is.

    A marker that is missing from the environment says nothing: a renamed process overwrites it.
    """
    if target["boot_id"] != boot_id():
        return "the host was restarted since"
    stat = read_stat(int(target["pid"]))
    if stat is None or stat.is_zombie:
        return "it has ended"
    if stat.start_ticks != target["start_ticks"]:
        return "its pid now belongs to another process (%s)" % stat.title
    marker = read_marker(stat.pid)
    if target.get("marker") and marker and marker != target["marker"]:
        return "its environment names another launch (%s)" % marker
    return ""


def find_members(target: dict[str, Any], known: list[dict[str, Any]]) -> list[Stat]:
    """The living processes of a server: itself, its group, its marker, its descendants, `known`.

    `known` are identities seen earlier; each counts while its start time is the same. The group
    counts while nothing shows that its number was taken over: a leader with another start time.
    """
    if target["boot_id"] != boot_id():
        return []
    processes = {pid: stat for pid, stat in read_all().items() if not stat.is_zombie}
    found = {stat.pid for stat in processes.values() if _is_grouped(stat, target, processes)}
    found |= {pid for pid in processes if target.get("marker") and _has_marker(pid, target)}
    for member in [target, *known]:
        stat = processes.get(int(member["pid"]))
        if stat is not None and stat.start_ticks == member["start_ticks"]:
            found.add(stat.pid)
    found.discard(INIT)
    return [processes[pid] for pid in sorted(_with_descendants(found, processes))]


def _is_grouped(stat: Stat, target: dict[str, Any], processes: dict[int, Stat]) -> bool:
    """It is in the group that the target leads; a group led by something else is not the server."""
    if target["pgid"] != target["pid"] or stat.pgid != target["pgid"]:
        return False
    leader = processes.get(stat.pgid)
    if leader is not None and leader.start_ticks != target["start_ticks"]:
        return False
    marker = read_marker(stat.pid) if target.get("marker") else ""
    return stat.sid == target["sid"] and marker in ("", None, target.get("marker"))


def _has_marker(pid: int, target: dict[str, Any]) -> bool:
    return bool(read_marker(pid) == target["marker"])


def _with_descendants(found: set[int], processes: dict[int, Stat]) -> set[int]:
    grown = set(found)
    while True:
        more = {pid for pid, stat in processes.items() if stat.ppid in grown} - grown
        if not more:
            return grown
        grown |= more
