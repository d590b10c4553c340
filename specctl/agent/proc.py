"""Single readings of /proc."""

from __future__ import annotations

import os
from typing import Dict, List, NamedTuple, Optional, Sequence

PROC = "/proc"
PRACTICE = "SPECCTL_LAB_HOST"
"""In the environment of every process of a practice host, which is a directory of its machine."""


class Stat(NamedTuple):
    """The fields of /proc/PID/stat that are used (proc(5))."""

    comm: str
    state: str
    ppid: int
    pgid: int
    sid: int
    start_ticks: int
    rss_pages: int


def read_bytes(path: str, limit: int = 1 << 20) -> bytes:
    """The start of a file."""
    with open(path, "rb") as file:
        return file.read(limit)


def read_text(path: str) -> str:
    """A file as text, odd bytes replaced."""
    return read_bytes(path).decode("utf-8", "replace")


def pids() -> List[int]:
    """Every process that /proc shows to this user; empty without /proc."""
    try:
        return [int(name) for name in os.listdir(PROC) if name.isdigit()]
    except OSError:
        return []


def stat(pid: int) -> Optional[Stat]:
    """Its stat line, or None when the process is gone."""
    try:
        return parse_stat(read_text("%s/%d/stat" % (PROC, pid)))
    except (OSError, ValueError, IndexError):
        return None


def parse_stat(line: str) -> Stat:
    """One stat line; the name in parentheses may itself hold parentheses and blanks."""
    start, end = line.index("("), line.rindex(")")
    fields = line[end + 1 :].split()
    return Stat(
        comm=line[start + 1 : end],
        state=fields[0],
        ppid=int(fields[1]),
        pgid=int(fields[2]),
        sid=int(fields[3]),
        start_ticks=int(fields[19]),
        rss_pages=int(fields[21]),
    )


def argv(pid: int) -> List[str]:
    """Its arguments; one element when it renamed itself, none for a kernel thread or a zombie."""
    try:
        data = read_bytes("%s/%d/cmdline" % (PROC, pid))
    except OSError:
        return []
    text = data.decode("utf-8", "replace").rstrip("\0")
    return text.split("\0") if text else []


def title(comm: str, arguments: Sequence[str]) -> str:
    """The name a process goes by: its title when it set one, else its `comm`.

    A renamed process has its whole title where its arguments were, some pad it with blanks there;
    `comm` holds 15 bytes of it.
    """
    if len(arguments) == 1 and comm and arguments[0].startswith(comm):
        return arguments[0].rstrip()
    return comm


def uid(pid: int) -> Optional[int]:
    """The user a process runs as."""
    try:
        return os.stat("%s/%d" % (PROC, pid)).st_uid
    except OSError:
        return None


def environment(pid: int) -> Optional[Dict[str, str]]:
    """Its initial environment, or None when it cannot be read."""
    try:
        data = read_bytes("%s/%d/environ" % (PROC, pid))
    except OSError:
        return None
    pairs = (item.partition("=") for item in data.decode("utf-8", "replace").split("\0") if item)
    return {name: value for name, _, value in pairs}


def is_practice(pid: int) -> bool:
    """It runs on a practice host, and this agent does not run on that one."""
    folder = (environment(pid) or {}).get(PRACTICE)
    return folder is not None and folder != os.environ.get(PRACTICE)


def link(pid: int, name: str) -> Optional[str]:
    """Where a link such as `cwd`, `exe`, `fd/1` or `ns/pid` points."""
    try:
        return os.readlink("%s/%d/%s" % (PROC, pid, name))
    except OSError:
        return None


def descriptors(pid: int) -> List[str]:
    """What its open descriptors point to; empty when that may not be seen."""
    folder = "%s/%d/fd" % (PROC, pid)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [target for target in (link(pid, "fd/" + name) for name in names) if target]


def uptime_s() -> Optional[float]:
    """Seconds since boot."""
    try:
        return float(read_text(PROC + "/uptime").split()[0])
    except (OSError, ValueError, IndexError):
        return None
