"""Signal a server's main process, or all of it, after checking again who they are."""

from __future__ import annotations

import os
import pwd
import signal
from typing import Any, Iterable

from . import proc

SIGNALS = {"TERM": signal.SIGTERM, "KILL": signal.SIGKILL}


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Signal, or only look.

    Request: target (an identity), uid (that it ran as, or None), known (identities of its other
    processes, seen earlier), action: `main` (SIGTERM to the main process only), `members` (SIGKILL
    to every process that belongs) or `look`.
    Answer: signalled, refused (each with the reason), members (what lives before the signal).
    """
    target, uid = request["target"], request.get("uid")
    members = proc.find_members(target, request.get("known") or [])
    answer: dict[str, Any] = {
        "members": [describe(stat) for stat in members],
        "signalled": [],
        "refused": [],
    }
    if request["action"] == "main":
        wrong = proc.mismatch(target)
        if wrong:
            answer["refused"].append({"pid": target["pid"], "why": wrong})
        else:
            _signal(answer, target["pid"], target["start_ticks"], signal.SIGTERM, uid)
    elif request["action"] == "members":
        for stat in last_first(members, target["pid"]):
            _signal(answer, stat.pid, stat.start_ticks, signal.SIGKILL, uid)
    elif request["action"] != "look":
        raise ValueError("%r is not an action" % request["action"])
    return answer


def last_first(members: Iterable[proc.Stat], main_pid: int) -> list[proc.Stat]:
    """The main process before the rest: it would otherwise start what it sees die again."""
    return sorted(members, key=lambda stat: (stat.pid != main_pid, stat.pid))


def describe(stat: proc.Stat) -> dict[str, Any]:
    """One process as the operator is shown it."""
    uid = proc.read_uid(stat.pid)
    return {
        "identity": proc.identity(stat, proc.read_marker(stat.pid) or ""),
        "ppid": stat.ppid,
        "uid": uid,
        "user": user_name(uid),
        "title": stat.title,
        "argv": proc.read_argv(stat.pid)[:64],
    }


def user_name(uid: int | None) -> str | None:
    """The name of a user, or None when the host has none for it."""
    try:
        return None if uid is None else pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _signal(
    answer: dict[str, Any], pid: int, start_ticks: int, number: signal.Signals, uid: int | None
) -> None:
    owner = proc.read_uid(pid)
    if uid is not None and owner is not None and owner != uid:
        answer["refused"].append({"pid": pid, "why": "it runs as uid %d, not %d" % (owner, uid)})
        return
    try:
        why = send(pid, start_ticks, number)
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        answer["refused"].append({"pid": pid, "why": why})
    else:
        answer["signalled"].append({"pid": pid, "signal": number.name})


def send(pid: int, start_ticks: int, number: signal.Signals) -> str:
    """Signal the process that has `pid` and started at `start_ticks`; what kept it from that.

    The start time is read after the pidfd is open: what the pidfd names cannot change any more.
    Without pidfds (Linux 5.3, Python 3.9) it is read just before.
    """
    if pid in (0, 1, os.getpid()) or pid < 0:
        return "that pid is never signalled"
    opened = _open_pidfd(pid)
    try:
        stat = proc.read_stat(pid)
        if stat is None or stat.is_zombie:
            return "it has ended"
        if stat.start_ticks != start_ticks:
            return "its pid now belongs to another process (%s)" % stat.title
        if opened is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(opened, number)
    except ProcessLookupError:
        return "it has ended"
    finally:
        if opened is not None:
            os.close(opened)
    return ""


def _open_pidfd(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError:  # an old kernel; a process that is gone is found out by its start time
        return None
