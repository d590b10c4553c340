"""Trees and profiles of a real workspace, read by the services that the commands use too."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters.git import file_states
from specctl.adapters.paths import own_workspace
from specctl.adapters.recipe import recipe
from specctl.adapters.workspace import find_workspace
from specctl.adapters.workspace_root import PROFILES
from specctl.domain.errors import InvalidFileError, RefusedError, SpecctlError, UsageError
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import NOT_YET
from specctl.domain.state import Link
from specctl.services.drift import Looked, drift_of, profile_of, read_drift
from specctl.services.inspection import open_tree
from specctl.services.linting import as_finding, check_files, check_on
from specctl.services.server_keys import keys_for
from specctl.services.topology import read_ways
from specctl.tui.reading import Git, Hits, ProfileEntry, Profiles, ProfileSheet
from specctl.tui.searching import MOST_HITS, check_pattern, cut_words, hit_of

if TYPE_CHECKING:
    from specctl.adapters.agent_channel import AgentChannel
    from specctl.adapters.git import FileStates
    from specctl.adapters.recipe import Recipe
    from specctl.adapters.workspace import Workspace
    from specctl.domain.drift import ServerDrift
    from specctl.domain.server import Server
    from specctl.domain.source import Tree
    from specctl.domain.state import Store
    from specctl.domain.topology import Topology
    from specctl.facts.server_info import ServerInfo
    from specctl.services.connection import Connection
    from specctl.services.inspection import OpenTree
    from specctl.services.linting import Verdict

SHORT_COMMIT = 7
LONGEST_SEARCH_S = 20.0


def reopen(root: Path, *, read_only: bool) -> Workspace:
    """The workspace of a directory; the user's own one need not be there while a lab is up.

    UsageError where another one is gone: none around it is taken for it.
    """
    is_there = root.is_dir()
    if not is_there and root != own_workspace():
        raise UsageError(
            f"the workspace {root} is gone",
            hint="What was read of it stands. Put it back, or open specctl in another one.",
        )
    return find_workspace(root, str(root) if is_there else None, read_only=read_only)


class WorkspaceReading:
    """What the source and the profiles screen ask for."""

    def __init__(self, workspace: Workspace, store: Store) -> None:
        self._workspace, self._store = workspace, store
        self._keys_for = keys_for(workspace)
        self._trees: dict[str, tuple[AgentChannel, OpenTree]] = {}
        self._drifts: dict[tuple[str, str], tuple[object, ServerDrift]] = {}

    async def _connection(self, host: str) -> Connection:
        raise NotImplementedError

    # ---------------------------------------------------------------- trees

    async def read_source(self, host: str, *, afresh: bool = False) -> Tree:
        """The tree that the host's interpreter would run."""
        del afresh  # each look asks whether the tree is still the same
        connection = await self._connection(host)
        opened = await open_tree(connection)
        self._trees[host] = (connection.agent, opened)
        return opened.tree

    async def _opened(self, host: str) -> OpenTree:
        """The tree as it was looked at; a new connection looks again."""
        connection = await self._connection(host)
        known = self._trees.get(host)
        if known is None or known[0] is not connection.agent:
            await self.read_source(host)
        return self._trees[host][1]

    async def read_source_file(self, host: str, file: str) -> str:
        """The text of one file of that tree."""
        return await (await self._opened(host)).file(file)

    async def find_in_source(self, host: str, pattern: str) -> Hits:
        """The lines of that tree that a regular expression finds, as the host reads its files."""
        check_pattern(pattern)
        opened = await self._opened(host)
        ignore_case = not any(char.isupper() for char in pattern)
        stream = opened.search(
            pattern, ignore_case=ignore_case, matches_max=MOST_HITS, seconds_max=LONGEST_SEARCH_S
        )
        try:
            found = [hit_of(item) async for item in stream]
        finally:
            await stream.aclose()
        return Hits(pattern, tuple(found), cut_words(stream.end or {}))

    # ---------------------------------------------------------------- profiles

    async def read_files(self) -> Workspace:
        """The workspace as its files are now."""
        old = self._workspace
        self._workspace = await asyncio.to_thread(
            partial(reopen, old.root, read_only=old.read_only)
        )
        return self._workspace

    async def list_profiles(self) -> Profiles:
        """The profiles as their files are now."""
        fresh = await self.read_files()
        states = await file_states(fresh.root / PROFILES)
        folder = fresh.root / PROFILES
        names = {path.stem for path in folder.glob("*.toml") if not path.name.startswith(".")}
        entries = [self._entry(name, states) for name in sorted(names | set(fresh.profiles()))]
        commit = (states.commit or "")[:SHORT_COMMIT] if states else ""
        return Profiles(tuple(entries), commit)

    def _entry(self, name: str, states: FileStates | None) -> ProfileEntry:
        file = self._workspace.shown(PROFILES, name)
        profile = self._workspace.profiles().get(name)
        is_own = self._path(name).parent == (self._workspace.root / PROFILES).absolute()
        git = _git_state(f"{name}.toml", states if is_own else None)
        if profile is None:
            return ProfileEntry(name, file, git=git, is_usable=False)
        return ProfileEntry(
            name, profile.file or file,
            profile.speculation.algorithm if profile.speculation else None,
            profile.model, profile.baseline, git,
        )  # fmt: skip

    def profile_path(self, name: str) -> Path:
        """The file of a profile, to be edited; raises UsageError where it is gone."""
        path = self._path(name)
        if not path.is_file():
            shown = self._workspace.shown(PROFILES, name)
            raise UsageError(f"{shown} is gone", hint="r reads the profiles again.")
        return path

    def _path(self, name: str) -> Path:
        shown = Path(self._workspace.shown(PROFILES, name)).expanduser()
        try:
            return shown.absolute()
        except OSError:  # the current directory was removed
            return self._workspace.root / PROFILES / f"{name}.toml"

    async def rewrite_profile(self, name: str, before: str, after: str) -> str:
        """Write a profile's text; refused when its file is not as it was. Returns the file."""
        path, file = self._path(name), self._workspace.shown(PROFILES, name)
        try:
            if path.read_text(encoding="utf-8") != before:
                raise RefusedError(f"{file} has changed meanwhile", hint="r reads it again.")
            part = path.with_name(f".{path.name}.part")
            part.write_text(after, encoding="utf-8")
            part.chmod(path.stat().st_mode)
            part.replace(path)
        except OSError as error:
            raise UsageError(f"{file} cannot be written: {error.strerror}") from error
        return file

    async def new_profile(self, name: str, source: str) -> str:
        """Write a profile that extends another; returns its file as the user would type it."""
        self._workspace.write_profile(name, {"extends": source})
        return self._workspace.shown(PROFILES, name)

    async def read_profile(self, name: str, host: str | None) -> ProfileSheet:
        """One profile: its text, what is wrong with it, and what it comes to on a host."""
        path, file = self._path(name), self._workspace.shown(PROFILES, name)
        try:
            text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {error.strerror}", hint="") from error
        verdict, unchecked = await self._check(name, host)
        findings, made = self._recipe(name, host, verdict.findings)
        against = verdict.build.name if verdict.host else ""
        return ProfileSheet(name, host, file, text, findings, against, unchecked, made)

    async def _check(self, name: str, host: str | None) -> tuple[Verdict, str]:
        """What the host's build makes of it; else what is wrong without one, and why so."""
        if host is None:
            return check_files(self._workspace, [name]), ""
        if self._store.state.host(host).link is not Link.UP:
            return check_files(
                self._workspace, [name]
            ), f"{host} is not connected: without its build"
        try:
            connection = await self._connection(host)
            return await check_on(connection, self._workspace, [name]), ""
        except InvalidFileError:
            return check_files(self._workspace, [name]), ""
        except SpecctlError as error:
            return check_files(self._workspace, [name]), error.message

    def _recipe(
        self, name: str, host: str | None, findings: tuple[Finding, ...]
    ) -> tuple[tuple[Finding, ...], Recipe | None]:
        """What it comes to; where it comes to nothing, why."""
        try:
            return findings, recipe(self._workspace, name, host)
        except InvalidFileError as error:
            return tuple(dict.fromkeys((*findings, *map(as_finding, error.problems)))), None
        except SpecctlError as error:
            words = f"{error.message}. {error.hint}".strip()
            return (*findings, Finding(Severity.ERROR, "", words)), None

    # ---------------------------------------------------------------- drift

    async def read_drift(self, host: str, server: str) -> ServerDrift:
        """How a running server differs from its profile."""
        found = await read_drift(
            await self._connection(host), self._workspace, self._keys_for, server
        )
        return found[0]

    async def read_topology(self, host: str) -> Topology:
        """How the GPUs of a host reach each other."""
        return await read_ways(await self._connection(host))

    def drift_at_hand(
        self, host: str, server: Server, info: ServerInfo | None
    ) -> ServerDrift | None:
        """What of it can be told without reading anything; kept until something of it changes."""
        workspace = self._workspace
        key = (workspace, server.argv, server.profile, server.version, id(info))
        known = self._drifts.get((host, server.name))
        if known is not None and known[0] == key:
            return known[1]
        described = workspace.hosts().get(host)
        if described is None:
            return None
        profile = profile_of(workspace, host, server.profile)
        looked = Looked(info or NOT_YET)
        drift = drift_of(server, host=described, profile=profile, looked=looked)
        self._drifts[host, server.name] = (key, drift)
        return drift


def _git_state(name: str, states: FileStates | None) -> Git:
    if states is None:
        return Git.UNKNOWN
    if name in states.new:
        return Git.NEW
    return Git.EDITED if name in states.edited else Git.CLEAN
