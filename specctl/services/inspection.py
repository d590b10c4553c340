"""Reading the SGLang source tree of a host, or one of this machine, without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.adapters.source_cache import SourceCache
from specctl.adapters.source_here import HERE, HereStream, absolute
from specctl.domain.errors import AgentAnswerError, RemoteFailedError, UsageError
from specctl.facts.source.answers import read_installs
from specctl.services.tree_opening import Cost, KeptOpening, OpenTree, TreeOpening

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from specctl.domain.source import Install, Tree
    from specctl.services.connection import Connection

__all__ = [
    "Cost",
    "OpenTree",
    "find_installs",
    "kept_tree",
    "kept_versions",
    "open_tree",
    "open_tree_here",
    "read_texts",
    "read_tree",
    "read_tree_here",
    "tree_file",
]

INTERPRETERS_S = 30.0


async def open_tree(
    connection: Connection, *, python: str | None = None, cache: SourceCache | None = None
) -> OpenTree:
    """Read the tree that would be launched on a host, or the one of `python` (path or folder).

    Raises UsageError where it cannot be told which that is, RemoteFailedError where there is none.
    """
    host = connection.host.name
    chosen = python or connection.host.python or await _only_python(connection)
    opening = TreeOpening(host, chosen, {"python": chosen}, connection.agent.stream, cache=cache)
    try:
        return await opening.open()
    except AgentAnswerError as error:
        if error.kind != "not_found":
            raise
        hint = f"Name another with python = in remotes/{host}.toml; specctl doctor {host} lists."
        raise RemoteFailedError(error.message, hint=hint) from None


async def open_tree_here(directory: Path, *, cache: SourceCache | None = None) -> OpenTree:
    """Read a tree of this machine: a package, a site-packages, an environment or a checkout.

    Raises UsageError where there is none.
    """
    root = absolute(directory)
    try:
        return await TreeOpening(HERE, root, {"root": root}, HereStream, cache=cache).open()
    except AgentAnswerError as error:
        hint = "Name the package's folder, a site-packages, an environment or a checkout."
        raise UsageError(error.message, hint=hint) from None


async def find_installs(connection: Connection) -> tuple[Install, ...]:
    """Every SGLang of a host, the one that would be launched marked."""
    python = connection.host.python
    answer = await connection.agent.call(
        "interpreters", timeout_s=INTERPRETERS_S, extra=[python] if python else []
    )
    return read_installs(answer, python, connection.hello.executable)


async def read_tree(connection: Connection, *, python: str | None = None) -> Tree:
    """What is read from the tree that would be launched on a host."""
    return (await open_tree(connection, python=python)).tree


async def read_texts(connection: Connection, *, python: str | None = None) -> Mapping[str, str]:
    """The texts of that tree that lint quotes; nothing is transferred when they are known."""
    return (await open_tree(connection, python=python)).texts


async def tree_file(connection: Connection, file: str, *, python: str | None = None) -> str:
    """One file of that tree; UsageError where it is not inside it."""
    return await (await open_tree(connection, python=python)).file(file)


async def read_tree_here(directory: Path) -> Tree:
    """What is read from a tree of this machine."""
    return (await open_tree_here(directory)).tree


async def _only_python(connection: Connection) -> str:
    """The interpreter of the active install, where the host's file names none."""
    installs = await find_installs(connection)
    for install in installs:
        if install.is_active and install.python is not None:
            return install.python
    host = connection.host.name
    if not installs:
        raise RemoteFailedError(
            f"host {host}: no Python there has SGLang",
            hint=f"Name one with python = in remotes/{host}.toml.",
        )
    found = ", ".join(f"{one.python} ({one.version})" for one in installs)
    raise UsageError(
        f"host {host} has several SGLang, and nothing says which would be launched: {found}",
        hint=f"Name it with python = in remotes/{host}.toml, or with --python.",
    )


def kept_versions() -> tuple[str, ...]:
    """The versions that were looked at from this machine and are still kept."""
    return tuple(SourceCache().versions())


def kept_tree(version: str) -> OpenTree | None:
    """The tree of a version as it was last looked at; its other files cannot be fetched."""
    cache = SourceCache()
    tree_hash = cache.versions().get(version)
    tree = cache.tree(tree_hash) if tree_hash is not None else None
    if tree is None:
        return None
    return OpenTree(tree, Cost(0.0, 0, is_from_cache=True), KeptOpening(cache))
