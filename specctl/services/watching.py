"""One connected host, watched: what its agent measures and what its servers say, as events."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

from specctl.adapters.sglang import SglangClient
from specctl.domain.errors import AgentAnswerError, ConnectionLostError
from specctl.domain.events import HostSampled, LogRead, ServerSampled, ServersSeen
from specctl.domain.server import ServerState
from specctl.facts.listing import group_servers
from specctl.facts.recent import worth_showing
from specctl.services.host_reading import list_processes, list_records
from specctl.services.link_timing import LinkTiming
from specctl.services.live_answers import LiveAnswers
from specctl.services.measured_server import reachable_address
from specctl.services.measuring_watch import MeasuringWatch
from specctl.services.outside import OutsideView
from specctl.services.polling import ServerPoller
from specctl.services.samples import samples
from specctl.services.server_log import ServerLog, launch_of_log
from specctl.services.server_watch import ServerWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.adapters.clock import Clock
    from specctl.domain.host import Host
    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.sample import GpuSample, Sample, ServerSample
    from specctl.domain.server import Server, ServerProcess
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.measured_server import Keys

    KeysOf = Callable[[Host, Server], Keys]
    ReadyTimeout = Callable[[Server], float | None]

LOOK_EVERY_S = 2.0
"""A look is also taken at once: when a GPU has other processes, a server answers otherwise."""

MOST_PAUSES = 3
"""From one look to the next while every server does what it is there for."""

QUIET_STATES = frozenset({ServerState.READY, ServerState.BUSY})
POLL_EVERY_S = 1.0
LOG_WITHIN_S = 5.0
"""So long a look waits for the logs of servers that have ended."""

RECORDS_EVERY_S = 30.0
ASKED_IN = frozenset(ServerState) - {ServerState.ABSENT, ServerState.CRASHED}


class HostWatch:
    """Watches one host for as long as its connection lasts."""

    def __init__(
        self,
        connection: Connection,
        store: Store,
        clock: Clock,
        *,
        interval_s: float,
        keys: KeysOf,
        ready_timeout_s: ReadyTimeout,
        known: dict[str, ServerWatch] | None = None,
        is_in_question: Callable[[Server], bool] = lambda _: False,
    ) -> None:
        """`known` is what an earlier connection learned of the servers; it is kept up to date.

        Of servers that are in question it is asked whether somebody measures them.
        """
        self.connection = connection
        self._store, self._clock, self._interval_s = store, clock, interval_s
        self._keys, self._ready_timeout_s = keys, ready_timeout_s
        self._sample: Sample | None = None
        self._timing = LinkTiming(connection.agent, clock)
        self._outside = OutsideView(connection, clock)
        self._is_in_question = is_in_question
        self._measuring = MeasuringWatch(connection, clock)
        self._asking: asyncio.Task[None] | None = None
        self._records: tuple[LaunchRecord, ...] = ()
        self._records_at_s = float("-inf")
        self._markers: set[str] = set()
        """Of the processes that were seen last."""

        self._known: dict[str, ServerWatch] = {} if known is None else known
        self._watches: dict[str, tuple[ServerWatch, list[asyncio.Task[None]]]] = {}
        self._look_now = asyncio.Event()
        self._holders: dict[int, frozenset[int]] = {}
        """By GPU: its processes, when they were known last."""

        self._is_quiet = False
        """In the last look every server did what it is there for."""

        self._first_sample = asyncio.Event()

    @property
    def name(self) -> str:
        """The host's."""
        return self.connection.host.name

    @property
    def measured(self) -> frozenset[str]:
        """Servers in question that somebody measures."""
        return self._measuring.servers

    def watch_of(self, server: str) -> ServerWatch | None:
        """What is kept of a server, when it is watched."""
        found = self._watches.get(server)
        return found[0] if found else None

    def look_now(self) -> None:
        """Look at processes and records at once, not at the next tick."""
        self._records_at_s = float("-inf")
        self._look_now.set()

    async def run(self) -> None:
        """Watch until cancelled; raises HostError, in a group, when the host is lost."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._end_with_the_link(), name=f"{self.name} link")
            group.create_task(self._timing.run(), name=f"{self.name} round trip")
            group.create_task(self._measure(), name=f"{self.name} samples")
            group.create_task(self._look_on(group), name=f"{self.name} servers")

    async def _end_with_the_link(self) -> None:
        raise await self.connection.agent.wait_closed()

    # ------------------------------------------------------------------ samples

    async def _measure(self) -> None:
        found = samples(
            self.connection.agent,
            interval_s=self._interval_s,
            slow_every=max(1, round(5 / self._interval_s)),
            state_dir=self.connection.host.state_dir,
        )
        async with aclosing(found):
            async for self._sample in found:
                self._first_sample.set()
                self._show(self._sample)
        raise ConnectionLostError(f"host {self.name}: the agent stopped sampling")

    def _show(self, sample: Sample) -> None:
        if self._has_other_holders(sample):
            self._look_now.set()
        shown = self._outside.explain(sample)
        round_trip_s = self._timing.round_trip_s
        self._store.apply(HostSampled(self.name, self._clock.now(), shown, round_trip_s))

    def _has_other_holders(self, sample: Sample) -> bool:
        """A GPU has other processes than before; where they cannot be known, nothing changed."""
        known = {gpu.index: local_pids(gpu) for gpu in sample.gpus if gpu.processes is not None}
        before, self._holders = self._holders, {**self._holders, **known}
        return self._holders != before

    # ------------------------------------------------------------------ servers

    async def _look_on(self, group: asyncio.TaskGroup) -> None:
        await self._first_sample.wait()
        while True:
            self._look_now.clear()  # what is asked for during a look was not seen by it
            await self.look(group)
            await self._until_next_look()

    async def _until_next_look(self) -> None:
        """Some may be left out while all is quiet."""
        for _ in range(MOST_PAUSES):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._look_now.wait()
            if self._look_now.is_set() or not self._is_quiet:
                return

    async def look(self, group: asyncio.TaskGroup) -> None:
        """Look at the servers once and watch those that are new."""
        if self._sample is not None and await self._outside.look(self._sample):
            self._show(self._sample)
        gpus = self._sample.gpus if self._sample else ()
        holders = {pid for gpu in gpus for pid in local_pids(gpu)}
        processes = await list_processes(self.connection, tuple(sorted(holders)))
        await self._read_records(processes)
        now_s = self._sample.time_s if self._sample else self._clock.now()
        records = worth_showing(self._records, processes, now_s)
        is_simulated = self.connection.host.is_simulated
        seen = group_servers(processes, records=records, gpus=gpus, is_simulated=is_simulated)
        watches = [self._watched(server, group) for server in seen]
        await self._read_logs_of_ended(watches, seen)
        judged = tuple(
            watch.judged(server, self._ready_timeout_s(server))
            for watch, server in zip(watches, seen, strict=True)
        )
        self._is_quiet = all(server.state in QUIET_STATES for server in judged)
        self._drop_all_but({server.name for server in seen})
        self._store.apply(ServersSeen(self.name, self._clock.now(), judged))
        self._ask_who_measures(group, [s for s in judged if self._is_in_question(s)])

    def _ask_who_measures(self, group: asyncio.TaskGroup, servers: Sequence[Server]) -> None:
        """Beside everything else: a slow answer holds up nothing."""
        is_idle = self._asking is None or self._asking.done()
        if is_idle and self._measuring.is_due(servers):
            self._asking = group.create_task(self._measuring.look(servers))

    async def _read_logs_of_ended(
        self, watches: Sequence[ServerWatch], seen: Sequence[Server]
    ) -> None:
        """Why a server ended stands in its log: it is read before a word is said of that."""
        logs = [
            watch.log.caught_up.wait()
            for watch, server in zip(watches, seen, strict=True)
            if watch.log is not None and server.state is ServerState.CRASHED
        ]
        with suppress(TimeoutError):
            async with asyncio.timeout(LOG_WITHIN_S):
                await asyncio.gather(*logs)

    async def _read_records(self, processes: tuple[ServerProcess, ...]) -> None:
        """Now and then, when a marker is one that no record explains, and when one is gone.

        How a launch ended, and whether somebody asked for that, stands in its record.
        """
        markers = {p.identity.marker for p in processes} - {""}
        known = {record.launch_id for record in self._records}
        is_new, is_gone = not markers <= known, not self._markers <= markers
        self._markers = markers
        if is_new or is_gone or self._clock.monotonic() - self._records_at_s >= RECORDS_EVERY_S:
            self._records = await list_records(self.connection)
            self._records_at_s = self._clock.monotonic()

    def _watched(self, server: Server, group: asyncio.TaskGroup) -> ServerWatch:
        known = self._watches.get(server.name)
        if known is not None and known[0].server.identity == server.identity:
            return known[0]
        if known is not None:
            self._drop(server.name)
        watch = self._remembered(server)
        tasks: list[asyncio.Task[None]] = []
        if watch.log is not None:
            tasks.append(group.create_task(self._follow(watch, watch.log)))
        if server.port is not None and server.state in ASKED_IN:
            watch.client = self._client(server, server.port)
            watch.poller = self._poller(watch, watch.client)
            tasks.append(group.create_task(self._poll_on(watch, watch.poller)))
        self._watches[server.name] = watch, tasks
        return watch

    def _remembered(self, server: Server) -> ServerWatch:
        """What is known of this very server from before, else the beginning of it."""
        watch = self._known.get(server.name)
        if watch is None or watch.server.identity != server.identity:
            watch = self._known[server.name] = ServerWatch(server, self._clock)
        if server.log_path is None:
            watch.log = None
        elif watch.log is None or watch.log.path != server.log_path:
            watch.log = ServerLog(server.log_path, launch_of_log(server), self._clock)
        return watch

    def _client(self, server: Server, port: int) -> SglangClient:
        keys = self._keys(self.connection.host, server)
        return SglangClient(
            self.connection.session.transport(),
            port,
            address=reachable_address(server.bind_address),
            key=keys.api,
            admin_key=keys.admin,
        )

    def _poller(self, watch: ServerWatch, client: SglangClient) -> ServerPoller:
        server = watch.server
        return ServerPoller(
            client,
            self._clock,
            version=server.version,
            has_metrics=("--enable-metrics" in server.argv) if server.argv else None,
            is_speculating=(server.algorithm is not None) if server.argv else None,
            meter=watch.log.meter if watch.log else None,
            live=self._live(server),
        )

    def _live(self, server: Server) -> LiveAnswers:
        address = reachable_address(server.bind_address)
        netloc = f"[{address}]" if ":" in address else address
        return LiveAnswers(
            self.connection.agent,
            f"http://{netloc}:{server.port}",
            self._keys(self.connection.host, server).headers(),
            interval_s=POLL_EVERY_S,
        )

    async def _follow(self, watch: ServerWatch, log: ServerLog) -> None:
        try:
            every_s = min(self._interval_s, POLL_EVERY_S)
            async for lines in log.follow(self.connection.agent, every_s=every_s):
                shown = tuple(line.shown for line in lines)
                self._store.apply(LogRead(self.name, self._clock.now(), watch.server.name, shown))
        except AgentAnswerError as error:
            log.fail(error.message)

    async def _poll_on(self, watch: ServerWatch, poller: ServerPoller) -> None:
        """Not once it has ended: another server may answer on its port then."""
        try:
            while True:
                if watch.server.state in ASKED_IN:
                    await self._poll_once(watch, poller)
                else:
                    await poller.rest()
                if not poller.has_waited:
                    await self._clock.sleep(POLL_EVERY_S + poller.pause_s)
        finally:
            await poller.rest()

    async def _poll_once(self, watch: ServerWatch, poller: ServerPoller) -> None:
        http, was_working = poller.http, is_working(watch.sample)
        watch.sample = await poller.poll()
        self._is_quiet = self._is_quiet and is_working(watch.sample) == was_working
        if poller.http != http:
            self._look_now.set()
        self._store.apply(
            ServerSampled(self.name, self._clock.now(), watch.server.name, watch.sample)
        )
        if poller.http == "200":
            await watch.read_info()

    def _drop_all_but(self, names: set[str]) -> None:
        for name in self._watches.keys() - names:
            self._drop(name)
        for name in self._known.keys() - names:
            del self._known[name]

    def _drop(self, name: str) -> None:
        for task in self._watches.pop(name, (None, []))[1]:
            task.cancel()


def local_pids(gpu: GpuSample) -> frozenset[int]:
    """Processes of this host on a GPU; none where they are not known."""
    return frozenset(p.pid for p in gpu.processes or () if p.pid_is_local)


def is_working(sample: ServerSample | None) -> bool:
    """It says that requests are running."""
    return bool(sample is not None and sample.running_requests)
