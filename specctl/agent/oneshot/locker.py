"""Locks that operators of one host share: who applies a plan to which GPU or port.

A lock is a flock on a file of one directory that every user of the host can write to. The kernel
drops it with its holder, so a dead holder's lock is free. Files are never removed: two operators
would then lock two files of one name. What a file says of its holder is only ever shown.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from typing import Any, BinaryIO, Iterator

from . import proc

DIRECTORY = "/tmp/specctl-locks"
DIRECTORY_MODE = 0o1777
LIMIT_BYTES = 4096


class LockError(Exception):
    """The lock directory or a lock file cannot be used."""


class HeldError(Exception):
    """Somebody else holds a lock."""

    def __init__(self, key: str, holder: dict[str, Any]) -> None:
        """Name the lock and its holder."""
        super().__init__("%s is locked by %s" % (key, holder.get("who", "an unknown user")))
        self.key, self.holder = key, holder


@contextlib.contextmanager
def _open_to_all() -> Iterator[None]:
    """Modes are taken as they are given: nobody ever sees a half-opened directory or file."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def open_directory(path: str) -> int:
    """The lock directory, made when it is missing; never through a link."""
    try:
        with _open_to_all(), contextlib.suppress(FileExistsError):
            os.mkdir(path, DIRECTORY_MODE)
    except OSError as error:
        raise LockError("%s cannot be made: %s" % (path, error.strerror)) from error
    try:
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise LockError("%s is no directory of ours: %s" % (path, error.strerror)) from error
    mode = os.fstat(directory).st_mode
    if mode & DIRECTORY_MODE != DIRECTORY_MODE:
        owner = os.fstat(directory).st_uid
        os.close(directory)
        text = "%s belongs to uid %d and has mode %o, not 1777"
        raise LockError(text % (path, owner, stat.S_IMODE(mode)))
    return directory


def open_file(directory: int, key: str) -> int:
    """A lock file, made when it is missing.

    O_CREAT on another user's file fails in a sticky directory under fs.protected_regular, so it is
    used only while there is no file.
    """
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    for _ in range(10):
        with contextlib.suppress(FileNotFoundError):
            return _checked(os.open(key, flags, dir_fd=directory), key)
        with _open_to_all(), contextlib.suppress(FileExistsError):
            return os.open(key, flags | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=directory)
    raise LockError("the lock file %s comes and goes" % key)


def _checked(file: int, key: str) -> int:
    found = os.fstat(file)
    if stat.S_ISREG(found.st_mode) and found.st_nlink <= 1:
        return file
    os.close(file)
    raise LockError("the lock file %s is not a plain file" % key)


def take(directory: int, key: str, holder: dict[str, Any]) -> int:
    """Take one lock without waiting; raises HeldError with what is known of its holder."""
    for _ in range(10):
        try:
            file = open_file(directory, key)
        except OSError as error:
            raise LockError("the lock file %s: %s" % (key, error.strerror)) from error
        if not _lock(file):
            found = read_holder(file)
            os.close(file)
            raise HeldError(key, found)
        if _is_current(directory, key, file):
            _write_down(file, holder)
            return file
        os.close(file)
    raise LockError("the lock file %s is replaced again and again" % key)


def _write_down(file: int, holder: dict[str, Any]) -> None:
    """Say who holds it; on a full disk the others see only that somebody does."""
    try:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(holder, sort_keys=True).encode("ascii"), 0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise


def _lock(file: int, pauses_s: tuple[float, ...] = (0.02, 0.05, 0.0)) -> bool:
    """Take the lock, or say that it is held; whoever only looks holds it for an instant."""
    for pause_s in pauses_s:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno != errno.EWOULDBLOCK:
                raise LockError("it cannot be locked: %s" % error.strerror) from error
            time.sleep(pause_s)
        else:
            return True
    return False


def _is_current(directory: int, key: str, file: int) -> bool:
    """The name still leads to the file that was locked."""
    try:
        named = os.stat(key, dir_fd=directory, follow_symlinks=False)
    except OSError:
        return False
    return (named.st_dev, named.st_ino) == (os.fstat(file).st_dev, os.fstat(file).st_ino)


def read_holder(file: int) -> dict[str, Any]:
    """What the file says of its holder, with the process that the kernel says holds it."""
    try:
        value = json.loads(os.pread(file, LIMIT_BYTES, 0).decode("utf-8", "replace"))
    except ValueError:
        value = None
    holder = dict(value) if isinstance(value, dict) else {}
    holder["pid"] = _pid_of_lock(os.fstat(file))
    return holder


def _pid_of_lock(found: os.stat_result) -> int | None:
    """The holder's pid from /proc/locks (proc(5)); None in another pid namespace."""
    wanted = "%02x:%02x:%d" % (os.major(found.st_dev), os.minor(found.st_dev), found.st_ino)
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as file:
            rows = [line.split() for line in file]
    except OSError:
        return None
    pids = [int(row[4]) for row in rows if row[1:2] == ["FLOCK"] and row[5:6] == [wanted]]
    return next((pid for pid in pids if pid > 0), None)


def hold(request: dict[str, Any]) -> dict[str, Any]:
    """Take every lock of `request` or none; they are held until this process ends."""
    holder = dict(request["holder"])
    stat_ = proc.read_stat(os.getpid())
    holder.update(
        pid=os.getpid(),
        start_ticks=stat_.start_ticks if stat_ else None,
        uid=os.getuid(),
        since_s=time.time(),
        token=request["token"],
    )
    directory = open_directory(request.get("directory") or DIRECTORY)
    files: list[int] = []
    try:
        files.extend(take(directory, key, holder) for key in sorted(set(request["keys"])))
    except HeldError as error:
        for file in files:
            os.close(file)
        return {"held": False, "key": error.key, "holder": error.holder}
    return {"held": True, "pid": os.getpid(), "keys": sorted(set(request["keys"]))}


def _is_there(directory: int, key: str) -> bool:
    try:
        os.stat(key, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def main(request: dict[str, Any]) -> dict[str, Any]:
    """Who holds which of `request["keys"]` at this moment; nothing is kept, and no file made."""
    directory = open_directory(request.get("directory") or DIRECTORY)
    held = []
    for key in sorted(set(request["keys"])):
        if not _is_there(directory, key):
            continue
        file = open_file(directory, key)
        try:
            if not _lock(file):
                held.append({"key": key, "holder": read_holder(file)})
        finally:
            os.close(file)
    return {"held": held}


def is_held(request: dict[str, Any]) -> str:
    """Why the locks of `request` are not held under its token; empty when they are."""
    directory = open_directory(request.get("directory") or DIRECTORY)
    for key in request["keys"]:
        try:
            file = open_file(directory, key)
        except (OSError, LockError):
            return "the lock %s is gone" % key
        try:
            if _lock(file):
                return "the lock %s was lost" % key
            holder = read_holder(file)
        finally:
            os.close(file)
        if "token" not in holder:
            return "nothing can be written to the lock %s: the disk may be full" % key
        if holder["token"] != request["token"]:
            return "%s is now locked by %s" % (key, holder.get("who", "an unknown user"))
    return ""


def wait_for_end(stdin: BinaryIO) -> None:
    """Return once the other end of `stdin` is closed: the operator is done, or gone."""
    while stdin.read(4096):
        pass
