"""The git checkout around a folder: its commit, and whether its files differ from it."""

from __future__ import annotations

import os
import re
from typing import Any, Dict, Optional, Tuple

from . import children, proc
from .places import find_command

TIMEOUT_S = 5.0
UPWARDS_MAX = 6
_COMMIT = re.compile(r"^[0-9a-f]{40,64}$")
_QUIET = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""A repository's own settings may name programs; none of these is to run."""


def read_checkout(path: str) -> Optional[Dict[str, Any]]:
    """`{top, commit, is_dirty, described, why}`; None where there is no checkout around."""
    found = _find(path)
    if found is None:
        return None
    top, git = found
    is_dirty, described, why = _ask_git(top, path)
    return {
        "top": top,
        "commit": _commit(git),
        "is_dirty": is_dirty,
        "described": described,
        "why": why,
    }


def _find(path: str) -> Optional[Tuple[str, str]]:
    """(the checkout, its git folder), looking upwards a few folders."""
    folder = os.path.realpath(path)
    for _ in range(UPWARDS_MAX):
        folder = os.path.dirname(folder)
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return folder, git
        if os.path.isfile(git):  # a worktree or a submodule
            named = _line(git)
            if named.startswith("gitdir:"):
                return folder, os.path.join(folder, named[len("gitdir:") :].strip())
    return None


def _commit(git: str) -> Optional[str]:
    """What HEAD names, read from the files: git itself may be missing or refuse."""
    head = _line(os.path.join(git, "HEAD"))
    if _COMMIT.match(head):
        return head
    if not head.startswith("ref:"):
        return None
    ref = head[len("ref:") :].strip()
    shared = _line(os.path.join(git, "commondir"))
    for folder in (git, os.path.join(git, shared) if shared else git):
        loose = _line(os.path.join(folder, ref))
        if _COMMIT.match(loose):
            return loose
        packed = _packed(os.path.join(folder, "packed-refs"), ref)
        if packed is not None:
            return packed
    return None


def _packed(path: str, ref: str) -> Optional[str]:
    try:
        lines = proc.read_bytes(path, 8 << 20).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    for line in lines:
        commit, _, name = line.partition(" ")
        if name.strip() == ref and _COMMIT.match(commit):
            return commit
    return None


def _ask_git(top: str, path: str) -> Tuple[Optional[bool], Optional[str], Optional[str]]:
    """(whether tracked files below `path` differ, `git describe`, why it is not known)."""
    git = find_command("git")
    if git is None:
        return None, None, "git is not installed"
    base = [git, "--no-optional-locks", *_QUIET, "-C", top]
    try:
        status = children.run(
            [*base, "status", "--porcelain", "--untracked-files=no", "--", path], TIMEOUT_S
        )
        if status.exit_status != 0:
            return None, None, status.stderr.strip().partition("\n")[0][:300] or "git failed"
        tag = children.run([*base, "describe", "--tags", "--match", "v*"], TIMEOUT_S)
    except (children.HungError, OSError) as error:
        return None, None, str(error)
    described = tag.stdout.strip() if tag.exit_status == 0 else None
    return bool(status.stdout.strip()), described, None


def _line(path: str) -> str:
    try:
        return proc.read_text(path).partition("\n")[0].strip()
    except OSError:
        return ""
