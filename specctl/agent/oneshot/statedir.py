"""Where launch records and logs lie on a host, and how they are written."""

from __future__ import annotations

import errno
import json
import os
import stat
from typing import Any

LAUNCH_ID_MAX = 32
TEST_BYTES = 65536
"""Written and removed to see whether a directory can take a log: a full disk lets files be made."""


class NoStateDirError(Exception):
    """No candidate can be written to; says for each which call failed and why."""


def candidates(configured: str | None) -> list[str]:
    """The directories to try, in order."""
    uid = os.getuid()
    home = os.path.expanduser("~")
    xdg = os.environ.get("XDG_STATE_HOME", "")
    found = [configured] if configured else []
    found += [os.path.join(xdg, "specctl")] if os.path.isabs(xdg) else []
    found += [os.path.join(home, ".local/state/specctl")] if os.path.isabs(home) else []
    found += ["/var/tmp/specctl-%d" % uid, "/dev/shm/specctl-%d" % uid]
    return [os.path.expanduser(path) for path in dict.fromkeys(found)]


def choose(configured: str | None) -> tuple[str, list[str]]:
    """The first candidate that can be written to, and what was wrong with those before it."""
    failures: list[str] = []
    for path in candidates(configured):
        failure = try_writing(path)
        if not failure:
            return path, failures
        failures.append(failure)
    raise NoStateDirError("no state directory can be written to: " + "; ".join(failures))


def try_writing(path: str) -> str:
    """Make `path` and write a file there; what failed, or nothing."""
    call = "mkdir"
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        call = "stat"
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode) and os.path.dirname(path) in ("/var/tmp", "/dev/shm"):
            return "%s: is a link in a directory that everyone may write to" % path
        if os.stat(path).st_uid != os.getuid():
            return "%s: belongs to uid %d" % (path, os.stat(path).st_uid)
        call = "write"
        name = os.path.join(path, ".write-test-%d" % os.getpid())
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        file = os.open(name, flags, 0o600)
        try:
            _write_all(file, b"\0" * TEST_BYTES)
        finally:
            os.close(file)
            os.unlink(name)
    except OSError as error:
        return "%s: %s: %s" % (path, call, describe(error))
    return ""


def describe(error: OSError) -> str:
    """`ENOSPC No space left on device`."""
    return "%s %s" % (errno.errorcode.get(error.errno or 0, "?"), error.strerror)


def is_launch_id(text: str) -> bool:
    """It can be the name of a launch's directory, and of nothing else."""
    return text.isascii() and text.isalnum() and len(text) <= LAUNCH_ID_MAX


def is_own(path: str) -> bool:
    """A directory of this user: records that somebody else wrote are not believed."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def launch_dir(state_dir: str, launch_id: str) -> str:
    """The directory of one launch."""
    if not is_launch_id(launch_id):
        raise ValueError("%r is not a launch id" % launch_id)
    return os.path.join(state_dir, "launches", launch_id)


def write_json(path: str, value: dict[str, Any]) -> None:
    """Write one record so that a reader sees all of it or none."""
    partial = "%s.%d.partial" % (path, os.getpid())
    file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        _write_all(file, json.dumps(value, sort_keys=True).encode("ascii") + b"\n")
        os.fsync(file)
    finally:
        os.close(file)
    os.replace(partial, path)


def read_json(path: str, limit: int = 1 << 20) -> Any:
    """One record, or None when there is none or it is not JSON."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return None
    with os.fdopen(file, "rb") as stream:
        try:
            return json.loads(stream.read(limit).decode("utf-8", "replace"))
        except (ValueError, OSError, RecursionError):
            return None


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
