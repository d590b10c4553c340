"""The process that stays with a server, outside its group, and writes down how it ended."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import time
from typing import Any, NoReturn

from ..bootstrap import explain
from . import keyfile, proc, statedir

SCHEMA = "specctl/launch/1"
PR_SET_CHILD_SUBREAPER = 36
WRITE_ATTEMPTS = 720
WRITE_PAUSE_S = 5.0
"""A full disk keeps exit.json from being written; an hour is given to free it."""


class Launch:
    """What the recorder needs to start a server."""

    def __init__(
        self,
        argv: list[str],
        environment: dict[str, str],
        directory: str,
        keys_path: str | None,
        umask: int,
    ) -> None:
        """Keep the parts; nothing runs yet."""
        self.argv, self.environment, self.umask = argv, environment, umask
        self.directory, self.keys_path = directory, keys_path

    @property
    def log_path(self) -> str:
        """Where stdout and stderr of the server go."""
        return os.path.join(self.directory, "server.log")


def become(launch: Launch, report: int, request: dict[str, Any]) -> NoReturn:
    """Turn this freshly forked process into the recorder; it never returns."""
    status = 1
    try:
        _leave_session(keep=report)
        status = _record(launch, report, request)
    except Exception as error:  # told to the launcher while it still listens
        _tell(report, {"error": explain(error)})
    finally:
        os._exit(status)


def _leave_session(keep: int) -> None:
    os.setsid()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    close_others({0, 1, 2, keep})
    with open("/proc/self/comm", "w", encoding="ascii") as file:
        file.write("specctl-record")
    # Orphaned schedulers come to the recorder and are reaped, also where pid 1 reaps nothing.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def close_others(keep: set[int]) -> None:
    """Close every descriptor but `keep`."""
    try:
        numbers = [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        numbers = list(range(min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 65536)))
    for number in numbers:
        if number not in keep:
            with contextlib.suppress(OSError):  # the descriptor that listed the others
                os.close(number)


def _record(launch: Launch, report: int, request: dict[str, Any]) -> int:
    log = os.open(launch.log_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
    os.write(log, b"specctl launch %s\n" % request["launch_id"].encode("ascii"))
    watch = keyfile.watch(launch.keys_path)
    pid = _start(launch, log)
    os.close(log)
    record = _record_of(request, pid, launch.log_path)
    statedir.write_json(os.path.join(launch.directory, "launch.json"), record)
    _tell(report, {"identity": record["identity"], "recorder": os.getpid()})
    keyfile.remove_once_read(watch, lambda: _has_ended(pid))
    _write_exit(launch.directory, request["launch_id"], pid, os.waitpid(pid, 0)[1])
    _reap_orphans()
    return 0


def _record_of(request: dict[str, Any], pid: int, log_path: str) -> dict[str, Any]:
    """The contents of launch.json: what was asked for, and who came of it."""
    stat = proc.read_stat(pid)
    if stat is None:
        raise ProcessLookupError("the server's process was gone before its identity could be read")
    return {
        **request["record"],
        "schema": SCHEMA,
        "launch_id": request["launch_id"],
        "identity": proc.identity(stat, request["launch_id"]),
        "uid": os.getuid(),
        "login_session": proc.read_login_session(pid),
        "log_path": log_path,
        "started_at_s": time.time(),
    }


def _tell(report: int, value: dict[str, Any]) -> None:
    try:
        os.write(report, json.dumps(value).encode("ascii"))
        os.close(report)
    except OSError:  # the launcher is gone; launch.json and the log say the same
        pass


def _start(launch: Launch, log: int) -> int:
    """Fork and exec the server; raises OSError when it cannot be executed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _exec(launch, log, writing)
    os.close(writing)
    failure = os.read(reading, 4096)
    os.close(reading)
    if failure:
        os.waitpid(pid, 0)
        raise OSError("%s: %s" % (launch.argv[0], failure.decode("utf-8", "replace")))
    return pid


def _exec(launch: Launch, log: int, failure: int) -> NoReturn:
    try:
        os.setsid()
        _heed_signals()
        os.dup2(log, 1)
        os.dup2(log, 2)
        close_others({0, 1, 2, failure})
        os.umask(launch.umask)
        os.chdir("/")
        os.execvpe(launch.argv[0], launch.argv, launch.environment)  # noqa: S606
    except OSError as error:
        os.write(failure, (error.strerror or str(error)).encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _heed_signals() -> None:
    """What is ignored stays so across exec: Python ignores some, nohup and job control others."""
    for number in signal.valid_signals():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def _has_ended(pid: int) -> bool:
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return ended is not None


def _write_exit(directory: str, launch_id: str, pid: int, status: int) -> None:
    signalled = os.WIFSIGNALED(status)
    value = {
        "schema": "specctl/exit/1",
        "launch_id": launch_id,
        "pid": pid,
        "status": None if signalled else os.WEXITSTATUS(status),
        "signal": os.WTERMSIG(status) if signalled else None,
        "time_s": time.time(),
    }
    for _ in range(WRITE_ATTEMPTS):
        try:
            statedir.write_json(os.path.join(directory, "exit.json"), value)
        except FileNotFoundError:  # the launch was cleaned away: nobody will ask
            return
        except OSError:
            select.select([], [], [], WRITE_PAUSE_S)
        else:
            return


def _reap_orphans() -> None:
    try:
        while True:
            os.wait()
    except ChildProcessError:
        return
