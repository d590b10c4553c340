"""The end of one server: SIGTERM to its main process, patience, SIGKILL last, then the proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.oneshot import run_oneshot
from specctl.domain.errors import RemoteFailedError
from specctl.domain.launch_record import identity_mapping
from specctl.domain.proof import Look, Member, Proof, prove_gone
from specctl.facts.preflight import are_pids_comparable, read_members, read_ports
from specctl.services.host_reading import ask_records, list_processes, read_gpus
from specctl.services.locks import operator

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from specctl.domain.server import Identity, Server
    from specctl.services.connection import Connection
    from specctl.services.host_reading import HostReading
    from specctl.services.progress import Progress

SIGNAL_S = 20.0
POLL_S = 0.2
ORPHANS_S = 3.0
"""Children of an ended main process get SIGKILL from the kernel (PR_SET_PDEATHSIG) at once."""


@dataclass(frozen=True, slots=True)
class StopTimes:
    """How long each part of a stop may take."""

    drain_s: float = 60.0
    """For requests to finish after SIGTERM, before they are aborted."""

    grace_s: float = 25.0
    """For the server to end after its requests have; SGLang itself waits 15 s for its children."""

    proof_s: float = 30.0
    """For the driver to release memory after the last process has ended."""


class Ending:
    """One server being ended; its group, marker and members are known before the first signal."""

    def __init__(
        self,
        connection: Connection,
        server: Server,
        reading: HostReading,
        progress: Progress,
        *,
        times: StopTimes,
    ) -> None:
        self._connection, self._server, self._progress = connection, server, progress
        self._record, self._reading, self._times = reading.record(server), reading, times
        self._known = self._identities()
        self._target = self._record.identity if self._record else server.identity

    def _identities(self) -> list[Identity]:
        """Its processes as they were seen: adopted ones are recorded, others are listed now."""
        seen = [p.identity for p in self._reading.processes if p.identity.pid in self._server.pids]
        return [*(self._record.members if self._record else ()), *seen]

    async def run(self, abort: Callable[[], Awaitable[str]], *, now: bool) -> Proof:
        """End it and prove it."""
        stop, prove = f"stop {self._server.name}", f"prove {self._server.name}"
        began_s = self._progress.clock.monotonic()
        before = await self._look()
        if before.members:
            self._progress.begin(stop, f"stopping {self._server.name}")
            await self._note_intent(stop)
            await self._end(before, abort, now=now, step=stop)
        self._progress.begin(prove, "proving that it is gone")
        proof = await self._prove(before, began_s)
        (self._progress.done if proof.gone else self._progress.fail)(prove, proof.words)
        return proof

    async def _note_intent(self, step: str) -> None:
        """An exit that was asked for is no crash: said before the first signal.

        A host that cannot take it down, for its disk is full, is told to stop all the same.
        """
        if self._record is None:
            return
        try:
            await ask_records(
                self._connection,
                "write",
                part="stop",
                value={"asked_by": operator()},
                state_dir=self._record.state_dir,
                launch_id=self._record.launch_id,
            )
        except RemoteFailedError as error:
            self._progress.move(step, f"that it was asked for is not recorded: {error.message}")

    async def _end(
        self, before: Look, abort: Callable[[], Awaitable[str]], *, now: bool, step: str
    ) -> None:
        if now:
            await self._abort(abort, step)
        is_signalled = await self._terminate(step)
        is_settled = False
        # without its main process nothing is left that could drain or answer
        is_headless = self._server.evidence.process_alive is False
        if is_signalled and not now and not is_headless:
            is_settled = await self._settle(before, self._times.drain_s)
            if not is_settled:
                await self._abort(abort, step)
        if not is_settled:
            await self._settle(before, ORPHANS_S if is_headless else self._times.grace_s)
        if not await self._living(before.members):
            self._progress.done(step, f"{self._server.name} ended by itself")
            return
        killed = await self._signal("members")
        pids = ", ".join(str(row["pid"]) for row in killed.get("signalled", ()))
        self._progress.done(step, f"SIGKILL sent to {pids}" if pids else "nothing left to signal")

    async def _terminate(self, step: str) -> bool:
        sent = await self._signal("main")
        for row in sent.get("refused", ()):
            self._progress.move(step, f"pid {row.get('pid')} was not signalled: {row.get('why')}")
        if sent.get("signalled"):
            self._progress.move(step, "SIGTERM sent to its main process; it drains")
        return bool(sent.get("signalled"))

    async def _abort(self, abort: Callable[[], Awaitable[str]], step: str) -> None:
        failure = await abort()
        words = f"requests could not be aborted: {failure}" if failure else "requests aborted"
        self._progress.move(step, words)

    async def _settle(self, before: Look, limit_s: float) -> bool:
        """Wait until every process has ended, or only orphans of the main one are left."""
        clock = self._progress.clock
        deadline_s = clock.monotonic() + limit_s
        orphaned_s: float | None = None
        while clock.monotonic() < deadline_s:
            living = await self._living(before.members)
            if not living:
                return True
            main = self._target.pid if self._target else None
            if main not in {member.pid for member in living}:
                orphaned_s = clock.monotonic() if orphaned_s is None else orphaned_s
                if clock.monotonic() - orphaned_s >= ORPHANS_S:
                    return True
            await clock.sleep(POLL_S)
        return False

    async def _living(self, members: tuple[Member, ...]) -> list[Member]:
        """Those of `members` that are still the same living process."""
        found = await list_processes(self._connection, tuple(m.pid for m in members))
        alive = {(p.identity.pid, p.identity.start_ticks) for p in found if p.state not in "ZX"}
        return [m for m in members if (m.pid, m.identity.start_ticks) in alive]

    async def _signal(self, action: str) -> dict[str, Any]:
        if self._target is None:
            return {}
        request = {
            "target": identity_mapping(self._target),
            "uid": self._record.uid if self._record else None,
            "known": [identity_mapping(identity) for identity in self._known],
            "action": action,
        }
        python = (self._connection.hello.executable,)
        return await run_oneshot(
            self._connection.session, python, "signaller", request, timeout_s=SIGNAL_S
        )

    async def _prove(self, before: Look, began_s: float) -> Proof:
        """Look until it is gone, or the driver had time enough to let go."""
        clock = self._progress.clock
        deadline_s = clock.monotonic() + self._times.proof_s
        while True:
            after = await self._look(before)
            proof = prove_gone(before, after, elapsed_s=clock.monotonic() - began_s)
            if proof.gone or clock.monotonic() >= deadline_s:
                return proof
            await clock.sleep(POLL_S)

    async def _look(self, before: Look | None = None) -> Look:
        """What there is of it now: members first, so that what they hold is asked after."""
        members = read_members(await self._signal("look"))
        former = before.members if before else ()
        found = await list_processes(self._connection, tuple(m.pid for m in (*members, *former)))
        ports = list(before.ports) if before else self._own_ports(members)
        answer = await self._connection.agent.call("ports", ports=ports) if ports else {}
        sample = await read_gpus(self._connection)
        return Look(
            members=members,
            ports=read_ports(answer, found),
            gpus=sample.gpus if sample.gpu_source else None,
            other_starts={p.identity.pid: p.identity.start_ticks for p in found},
            are_pids_comparable=are_pids_comparable(
                self._connection.hello.pid_namespace, self._connection.host.enter
            ),
        )

    def _own_ports(self, members: tuple[Member, ...]) -> list[int]:
        """Those its processes listen on, and its own by record or command line."""
        pids = {member.pid for member in members}
        listening = {
            port for p in self._reading.processes if p.identity.pid in pids for port in p.listening
        }
        recorded = {self._record.port} if self._record and self._record.port else set()
        own = {self._server.port} if self._server.port else set()
        return sorted(listening | recorded | own)
