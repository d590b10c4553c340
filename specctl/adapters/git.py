"""Which commit of its repository a workspace is at; asked of git, where there is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from specctl.adapters.local import LocalSession
from specctl.domain.errors import SpecctlError

GIT_S = 5.0
FOLDERS = ("remotes", "profiles")
DIRTY = "-dirty"
_STATUS = ("status", "--porcelain=v2", "--branch", "--", *FOLDERS)
_FILES = ("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--")
_PREFIX = ("rev-parse", "--show-prefix")
FIELDS = {"1": 8, "2": 9, "u": 10}
"""Kind of an entry of that status to the fields before its path."""

_QUIET = ("--no-optional-locks", "-c", "core.fsmonitor=false")
"""Only looked at: no lock is taken and no program of the repository's configuration is run."""


@dataclass(frozen=True, slots=True)
class FileStates:
    """Which files of a folder differ from the commit its repository is at."""

    commit: str | None
    """None before the first one."""

    edited: frozenset[str] = field(default_factory=frozenset)
    """Names of files that are in the repository and differ."""

    new: frozenset[str] = field(default_factory=frozenset)
    """Names of files that are not in it."""


async def file_states(folder: Path) -> FileStates | None:
    """The files right in a folder as git sees them; None where there is no repository."""
    prefix = await _git("-C", str(folder), *_PREFIX)
    if prefix is None:
        return None
    output = await _git("-C", str(folder), *_QUIET, *_FILES, ".")
    return None if output is None else read_file_states(output, prefix.rstrip("\n"))


def read_file_states(text: str, prefix: str) -> FileStates:
    """What `git status --porcelain=v2 --branch -z` prints, of the files right under `prefix`."""
    commit: str | None = None
    found: dict[str, set[str]] = {"edited": set(), "new": set()}
    entries = iter(text.split("\0"))
    for entry in entries:
        kind, _, rest = entry.partition(" ")
        if entry.startswith("# branch.oid "):
            commit = rest.split()[-1] if rest.split()[-1].isalnum() else None
        elif kind == "?":
            found["new"].add(rest)
        elif kind in FIELDS:
            path = entry.split(" ", FIELDS[kind])[-1]
            found["new" if entry[2] == "A" else "edited"].add(path)
            if kind == "2":
                next(entries, None)
    names = {state: _right_under(prefix, paths) for state, paths in found.items()}
    return FileStates(commit, names["edited"], names["new"])


def _right_under(prefix: str, paths: set[str]) -> frozenset[str]:
    names = {path.removeprefix(prefix) for path in paths if path.startswith(prefix)}
    return frozenset(name for name in names if "/" not in name)


async def workspace_commit(file: str) -> str | None:
    """The commit of the workspace that `file`, a profile, lies in; None where there is none.

    `-dirty` follows it when a host or a profile differs from that commit or is not in it.
    """
    if not file:
        return None
    try:
        root = _root(file)
    except OSError:  # the current directory was removed, and the path begins there
        return None
    output = await _git("-C", root, *_QUIET, *_STATUS)
    return None if output is None else read_status(output)


def _root(file: str) -> str:
    path = Path(file).expanduser().absolute()
    return str(path.parent.parent)


async def _git(*arguments: str) -> str | None:
    """What git printed; None where there is no git, no repository, or no answer in time."""
    session = LocalSession("this machine")
    try:
        finished = await session.run(("git", *arguments), timeout_s=GIT_S)
    except SpecctlError:  # nothing of a launch depends on it
        return None
    finally:
        await session.close()
    return finished.stdout.decode("utf-8", "replace") if finished.exit_status == 0 else None


def read_status(text: str) -> str | None:
    """The commit in what `git status --porcelain=v2 --branch` prints (git-status(1))."""
    lines = text.splitlines()
    commit = next((ln.split()[-1] for ln in lines if ln.startswith("# branch.oid ")), "")
    if not commit.isalnum():  # `(initial)`: nothing is committed yet
        return None
    is_dirty = any(not line.startswith("#") for line in lines)
    return commit + DIRTY if is_dirty else commit
