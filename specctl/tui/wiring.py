"""The services behind the screens, on a real workspace; imported after the first paint."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.adapters.clock import SystemClock
from specctl.adapters.command_log import CommandLog
from specctl.adapters.overlay import read_overlay
from specctl.adapters.paths import command_file, ledger_file
from specctl.adapters.secrets import Secrets
from specctl.adapters.trust import fetch_host_key, write_known_host
from specctl.adapters.workloads import (
    bundled_names,
    read_training,
    read_workload,
    workload_files,
)
from specctl.adapters.workspace_root import mark_of
from specctl.domain.contradictions import gpus_needed
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.preflight import StartOptions
from specctl.services import control
from specctl.services.adoption import adopt, plan_adopt
from specctl.services.earlier_starts import with_earlier_starts
from specctl.services.estimating import estimate_probe
from specctl.services.fleet import Fleet, described
from specctl.services.forwarding import forward_server
from specctl.services.keeping import Keeper
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.measured_server import NO_KEYS
from specctl.services.monitor import Monitor
from specctl.services.probing import Settings, probe_server
from specctl.services.stop import StopOptions, plan_stop, stop_server
from specctl.tui.details import details_of, named_causes, with_even
from specctl.tui.services import ProbePlan, ProfileChoice, ServerDetails
from specctl.tui.wired_enrolling import WorkspaceEnrolling
from specctl.tui.wired_reading import reopen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from specctl.adapters.trust import OfferedKey
    from specctl.adapters.workspace import Workspace
    from specctl.domain.plan import Plan
    from specctl.domain.probe import ProbeResult
    from specctl.domain.profile import Profile
    from specctl.domain.remote_command import RemoteCommand
    from specctl.domain.server import Server
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.measured_server import Keys
    from specctl.services.outcome import Outcome

NOTICED_EVERY_S = 2.0
WORKLOAD = "mixed"
"""The bundled set that a probe from a key sends."""


def _mark(root: Path) -> tuple[tuple[str, int], ...]:
    return mark_of(root, read_overlay())


async def open_services(root: Path, store: Store, *, read_only: bool) -> WorkspaceServices:
    """The services of a workspace; its files are read now."""
    return WorkspaceServices(reopen(root, read_only=read_only), store)


class WorkspaceServices(WorkspaceEnrolling):
    """What keys ask for, done by the services that the commands use too."""

    def __init__(self, workspace: Workspace, store: Store) -> None:
        super().__init__(workspace, store)
        self._known_hosts = tuple(sorted(workspace.hosts()))
        self._clock = SystemClock()
        self._fleet = Fleet(workspace, store, self._clock, CommandLog(self._clock, command_file()))
        self._monitor = Monitor(self._fleet, keys=self._keys_for)
        self._secrets: Secrets | None = None
        self._guards: dict[str, bool] = {}
        self._keeper = Keeper(ledger_file(), self._clock)

    # ---------------------------------------------------------------- what is known

    @property
    def interval_s(self) -> float:
        """How often each host is sampled."""
        return self._monitor.interval_s

    def hosts(self) -> Sequence[str]:
        """Names of the workspace's hosts, by name."""
        return self._known_hosts

    def watch_more(self, name: str) -> None:
        """A host is new in the workspace."""
        self._fleet.workspace = self._workspace
        self._known_hosts = tuple(sorted(self._workspace.hosts()))
        self._monitor.add([name])

    def commands(self) -> Sequence[RemoteCommand]:
        """What was done on hosts in this session, the oldest first."""
        return self._fleet.commands.commands()

    def profiles(self, host: str | None) -> Sequence[ProfileChoice]:
        """Every profile, with the number of things wrong with it; those that fit `host` first."""
        known = self._workspace.profiles().values()
        chosen = sorted(known, key=lambda p: (not self._fits(p, host), p.name))
        return [self._choice(self._as_on(profile, host)) for profile in chosen]

    def _as_on(self, profile: Profile, host: str | None) -> Profile:
        """With the host's overrides, unless they are what is wrong with it."""
        try:
            return self._workspace.profile(profile.name, host)
        except InvalidFileError:
            return profile

    def _fits(self, profile: Profile, host: str | None) -> bool:
        """It takes as many GPUs as the host has, as far as both are known."""
        sample = self._store.state.host(host).sample if host else None
        needed = gpus_needed(profile.arguments)
        if sample is None or needed is None:
            return True
        return needed <= len(sample.gpus) if needed else not sample.gpus

    def _choice(self, profile: Profile) -> ProfileChoice:
        wrong = [p for p in self._workspace.problems if p.file == profile.file]
        errors = sum(not problem.is_warning for problem in wrong)
        algorithm = profile.speculation.algorithm if profile.speculation else None
        note = profile.description.split(".")[0]
        return ProfileChoice(
            profile.name, algorithm, profile.model, errors, len(wrong) - errors, note,
            profile.baseline,
        )  # fmt: skip

    def details(self, host: str, server: Server) -> ServerDetails:
        """What profiles, probes of this session and the server's own answer add."""
        watch = self._monitor.server(host, server.name)
        profile = self._workspace.profiles().get(server.profile or "")
        info = watch.info if watch else None
        details = details_of(server, profile, self._store.state.host(host), info)
        drift = self.drift_at_hand(host, server, info)
        reference = self.with_trial(details.reference, host, server.profile)
        return replace(
            details,
            reference=with_even(reference, self._monitor.even(host, server.profile)),
            drift=drift,
            arguments=named_causes(details.arguments, drift),
        )

    def set_read_only(self, host: str, *, read_only: bool) -> None:
        """Lift or set the guard of one host for this session."""
        self._guards[host] = read_only
        guarded = replace(self._workspace.host(host), read_only=read_only)
        self._store.apply(described(guarded, self._clock.now()))

    # ---------------------------------------------------------------- reading

    async def monitor(self) -> None:
        """Watch every host until cancelled, then close the connections."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._monitor.watch(self.hosts()), name="hosts")
                group.create_task(self._notice(), name="files of hosts")
                group.create_task(self.follow_trials(), name="what trials say")
        finally:
            await self._fleet.close()

    async def _notice(self) -> None:
        """Take in hosts that come and go: files written meanwhile, a lab brought up or down."""
        root = self._workspace.root
        before = await asyncio.to_thread(_mark, root)
        while True:
            await self._clock.sleep(NOTICED_EVERY_S)
            mark = await asyncio.to_thread(_mark, root)
            if mark != before:
                before = mark
                with suppress(UsageError):  # the workspace is gone: whoever reads it is told
                    await self.take_hosts()

    async def take_hosts(self) -> None:
        """Watch the hosts that are there now, and those that are gone no more."""
        old = dict(self._fleet.workspace.hosts())
        self._fleet.workspace = await self.read_files()
        now = self._workspace.hosts()
        self._known_hosts = tuple(sorted(now))
        for name in old.keys() - now.keys():
            await self._monitor.remove(name)
        changed = [name for name in now if name in old and now[name] != old[name]]
        self._fleet.describe(name for name in changed if name not in self._guards)
        self._monitor.add(name for name in self._known_hosts if name not in old)

    async def read_again(self, host: str) -> None:
        """Look again at once; reconnect now when the link is down."""
        self._monitor.read_again(host)

    async def _connection(self, host: str) -> Connection:
        connection = await self._fleet.connect(host)
        read_only = self._guards.get(host)
        if read_only is None:
            return connection
        return replace(connection, host=replace(connection.host, read_only=read_only))

    def _own_keys(self, connection: Connection, server: Server | None) -> Keys:
        return self._keys_for(connection.host, server) if server is not None else NO_KEYS

    def _known_secrets(self) -> Secrets:
        if self._secrets is None:
            self._secrets = Secrets.load()
        return self._secrets

    # ---------------------------------------------------------------- changing

    async def plan_start(self, host: str, profile: str, *, replace: bool) -> Plan:
        """What starting `profile` would do."""
        recipe = self._workspace.profile(profile, host)
        connection = await self._connection(host)
        return await plan_launch(
            connection,
            recipe,
            StartOptions(replace=replace),
            secrets=self._known_secrets(),
            clock=self._clock,
            keys_for=self._keys_for,
        )

    async def plan_stop(self, host: str, server: str, *, now: bool) -> Plan:
        """What stopping a server would do."""
        connection = await self._connection(host)
        options = StopOptions(now=now)
        return await plan_stop(
            connection, server, options, clock=self._clock, keys_for=self._keys_for
        )

    async def plan_adopt(self, host: str, server: str) -> Plan:
        """What adopting a foreign server would record."""
        found = self._server(host, server)
        if found.identity is None:
            raise UsageError(f"{host}/{server}: its process cannot be seen", hint=found.why)
        return await plan_adopt(await self._connection(host), found.identity.pid)

    async def apply(self, plan: Plan, *, typed: str) -> Outcome:
        """Carry a plan out."""
        connection = await self._connection(plan.host)
        try:
            return await self._apply(connection, plan, typed)
        finally:
            self._monitor.read_again(plan.host)

    async def _apply(self, connection: Connection, plan: Plan, typed: str) -> Outcome:
        store, clock = self._store, self._clock
        if plan.kind == "adopt":
            return await adopt(connection, plan, store=store, clock=clock)
        if plan.kind == "stop":
            keys = self._own_keys(connection, plan.target)
            return await stop_server(
                connection, plan, store=store, clock=clock, keys=keys, typed=typed
            )
        outcome = await apply_launch(
            connection,
            plan,
            secrets=self._known_secrets(),
            store=store,
            clock=clock,
            typed=typed,
            keys_for=self._keys_for,
            announces_log=False,
        )
        if plan.recipe is not None:
            outcome = await asyncio.to_thread(
                with_earlier_starts, outcome, self._keeper.path, plan.recipe.name, plan.version
            )
            await self._keeper.keep_launch(connection, plan, plan.recipe, outcome)
        return outcome

    # ---------------------------------------------------------------- measuring

    def plan_probe(
        self,
        host: str,
        server: str,
        *,
        requests: int | None = None,
        trained_on: str | None = None,
    ) -> ProbePlan:
        """What a probe would send: the bundled workload, one request at a time."""
        settings = self._probe_settings(requests, trained_on)
        workload, trained = settings.workload, settings.trained_on
        sample = self._store.state.host(host).server_samples.get(server)
        running = (sample.running_requests if sample else None) or 0
        notes: tuple[str, ...] = ()
        if running:
            noun = "request is" if running == 1 else "requests are"
            notes = (f"{running} {noun} running already: others make the result void.",)
        most = len(workload.prompts)
        found = self._store.state.host(host).server(server)
        takes = estimate_probe(
            self._keeper.path,
            host,
            found.profile if found else None,
            settings,
            now_s=self._clock.now(),
        )
        bundled = (name for name in bundled_names() if name != WORKLOAD)
        return ProbePlan(
            host,
            server,
            workload.name,
            requests or most,
            1,
            expected_s=takes.seconds,
            expected_words=takes.basis,
            notes=notes,
            most=most,
            trained_on=trained_on,
            trainings=(*bundled, *workload_files(self._workspace.root)),
            training_words=trained.words if trained else "",
        )

    def _probe_settings(self, requests: int | None, trained_on: str | None) -> Settings:
        """Raises UsageError for a training set that cannot be read, or shares a prompt."""
        root = self._workspace.root
        workload, training = read_workload(WORKLOAD, root=root), None
        most = None if requests == len(workload.prompts) else requests
        if trained_on is not None:
            training = read_training(trained_on, workload.prompts[:most], root=root, most=most)
        return Settings(workload, most_prompts=most, training=training)

    async def probe(self, plan: ProbePlan) -> ProbeResult:
        """Measure a server."""
        connection = await self._connection(plan.host)
        server = self._server(plan.host, plan.server)
        settings = self._probe_settings(plan.requests, plan.trained_on)
        keys = self._own_keys(connection, server)
        result = await probe_server(
            connection,
            server,
            settings,
            store=self._store,
            clock=self._clock,
            keys=keys,
        )
        profile = self._workspace.profiles().get(server.profile or "")
        await self._keeper.keep_probe(
            connection, server, profile, workload=settings.workload, result=result, keys=keys
        )
        return result

    # ---------------------------------------------------------------- by name alone

    async def offered_key(self, host: str) -> OfferedKey:
        """The key that a host, or the first hop to it that is not trusted, shows."""
        described = self._workspace.host(host)
        if described.transport == "local":
            raise UsageError(f"{host} is this machine; it has no key")
        return await fetch_host_key(described)

    async def trust(self, offered: OfferedKey) -> str:
        """Write a key to known_hosts; returns where."""
        write_known_host(offered)
        return f"Written to {offered.file}: {offered.spelled}"

    async def flush(self, host: str, server: str) -> str:
        """Empty a server's caches; returns what was done."""
        connection, found = await self._connection(host), self._server(host, server)
        return await control.flush(
            connection, found, self._own_keys(connection, found), self._clock
        )

    async def abort(self, host: str, server: str) -> str:
        """End a server's requests; returns what was done."""
        connection, found = await self._connection(host), self._server(host, server)
        return await control.abort(connection, found, self._own_keys(connection, found))

    @asynccontextmanager
    async def forward(self, host: str, server: str) -> AsyncIterator[tuple[int, int]]:
        """A local port that leads to a server's own, while the block runs."""
        async with forward_server(await self._connection(host), server, 0) as ports:
            yield ports

    def _server(self, host: str, name: str) -> Server:
        server = self._store.state.host(host).server(name)
        if server is None:
            raise UsageError(f"no server {name} on {host} any more", hint="r reads the host again.")
        return server
