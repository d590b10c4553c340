"""A load followed to its end: milestones, time left, ready, or the first cause of a failure.

The log alone never makes a server ready: its process lives, and its port is its own.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

from specctl.adapters.sglang import SglangClient
from specctl.domain.command import parse_argv
from specctl.domain.errors import AgentAnswerError, DeadlineError, HostError, ServerAnswerError
from specctl.domain.events import LogRead
from specctl.domain.launch_record import read_exit, read_identity
from specctl.domain.server import Milestone
from specctl.facts.diagnosis import first_cause
from specctl.services.control import load_corpora
from specctl.services.failed_start import excerpt, exit_words, read_log_end
from specctl.services.host_reading import ask_records, list_processes
from specctl.services.measured_server import Keys, reachable_address
from specctl.services.outcome import Outcome, minutes
from specctl.services.server_log import ServerLog

if TYPE_CHECKING:
    from specctl.domain.plan import Plan
    from specctl.domain.proof import Proof
    from specctl.domain.state import Store
    from specctl.services.connection import Connection
    from specctl.services.progress import Progress

LOOK_S = 1.0
READ_BYTES = 64 * 1024
PORT_TAKEN = "address already in use"
"""SGLang 0.5.23 loads everything, finds its port taken, says so, and hangs."""


class Follower:
    """One launch being followed."""

    def __init__(
        self,
        connection: Connection,
        plan: Plan,
        answer: dict[str, Any],
        progress: Progress,
        store: Store,
        *,
        keys: Keys,
        age_s: float = 0.0,
        announces_log: bool = True,
    ) -> None:
        """`age_s` is how long ago it was launched, when that was not just now."""
        self._connection, self._plan, self._progress = connection, plan, progress
        self._store, self._keys = store, keys
        self._announces_log = announces_log
        self._identity = read_identity(answer["identity"])
        self._directory, self._state_dir = str(answer["directory"]), str(answer["state_dir"])
        self._log = ServerLog(str(answer["log_path"]), plan.id, progress.clock)
        self._began_s = progress.clock.monotonic() - age_s
        self._reached: dict[Milestone, float] = {Milestone.LAUNCHED: 0.0}
        self._said = ""
        self._is_port_taken = self._is_listening = False
        self._has_news = asyncio.Event()

    @property
    def name(self) -> str:
        """What the server is called on its host."""
        return self._plan.id[:4]

    @property
    def elapsed_s(self) -> float:
        """Since the launch."""
        return self._progress.clock.monotonic() - self._began_s

    def launched(self, proofs: tuple[Proof, ...]) -> Outcome:
        """It runs, and nobody waits for it."""
        words = f"Launched {self._plan.profile} as {self.name}, pid {self._identity.pid}."
        self._progress.finish(words, succeeded=True)
        hint = f"specctl watch {self._plan.host} shows when it is ready."
        return self._outcome(words, succeeded=True, hint=hint, proofs=proofs)

    async def run(self, proofs: tuple[Proof, ...]) -> Outcome:
        """Follow until it is ready, has failed, or had its time; raises DeadlineError then."""
        self._progress.begin("ready", "waiting until ready", remaining_s=self._remaining_s())
        reading = asyncio.create_task(self._read_log())  # noqa: TID251  ended below
        try:
            outcome = await self._watch(reading, proofs)
        except HostError as error:
            error.hint = error.hint or f"It goes on loading: specctl watch {self._plan.host}"
            raise
        finally:
            reading.cancel()
            await asyncio.wait([reading])
        return outcome

    async def _watch(self, reading: asyncio.Task[None], proofs: tuple[Proof, ...]) -> Outcome:
        recipe = self._plan.recipe
        limit_s = recipe.ready_timeout_s if recipe else float("inf")
        while self.elapsed_s < limit_s:
            if reading.done() and not reading.cancelled():
                reading.result()
            exit_status = await self._exit_status()
            if exit_status is not None or not await self._is_alive():
                return await self._failed(await self._recorded_exit(), proofs)
            if self._is_port_taken:
                return await self._failed(None, proofs)
            if await self._is_ready():
                return await self._ready(proofs)
            await self._pause()
        words = f"{self._plan.profile} is not ready after {minutes(limit_s)}; it goes on loading"
        self._progress.fail("ready", words)
        self._progress.finish(words, succeeded=False)
        raise DeadlineError(words, hint=f"specctl logs {self._plan.host}/{self.name} -f")

    async def _pause(self) -> None:
        """Until the log says something new, a second at most."""
        self._has_news.clear()
        try:
            async with asyncio.timeout(LOOK_S):
                await self._has_news.wait()
        except TimeoutError:
            return

    async def _read_log(self) -> None:
        async for lines in self._log.follow(self._connection.agent):
            shown = tuple(line.shown for line in lines)
            now_s = self._progress.clock.now()
            if self._announces_log:
                self._store.apply(LogRead(self._plan.host, now_s, self.name, shown))
            self._is_port_taken |= any(PORT_TAKEN in line for line in shown)
            for reached in self._log.tracker.reached:
                if reached.milestone not in self._reached:
                    await self._reach(reached.milestone, reached.words)
            self._say_progress()
            self._has_news.set()

    async def _reach(self, milestone: Milestone, words: str) -> None:
        self._reached[milestone] = self.elapsed_s
        if milestone is Milestone.ARGUMENTS and any(u.is_argument for u in self._plan.secrets):
            await self._forget_keys()
        text = f"{minutes(self.elapsed_s)} {milestone}" + (f": {words}" if words else "")
        self._progress.move("ready", text, remaining_s=self._remaining_s())

    def _say_progress(self) -> None:
        progress = self._log.tracker.progress
        if progress is not None and progress.words != self._said:
            self._said = progress.words
            self._progress.move("ready", progress.words, remaining_s=self._remaining_s())

    def _remaining_s(self) -> float | None:
        times = self._plan.times
        if times is None:
            return None
        last, at_s = max(self._reached.items(), key=lambda item: item[1])
        return times.remaining_s(last, self.elapsed_s, at_s)

    async def _forget_keys(self) -> None:
        """The recorder removes the key file once read; this is for hosts without inotify."""
        await ask_records(
            self._connection, "forget", state_dir=self._state_dir, launch_id=self._plan.id
        )

    # ------------------------------------------------------------------ evidence

    async def _exit_status(self) -> int | None:
        try:
            answer = await self._connection.agent.call(
                "read", path=f"{self._directory}/exit.json", offset=0, length=READ_BYTES
            )
            value = json.loads(base64.b64decode(answer.get("data") or b""))
            ended = read_exit(value)
        except (AgentAnswerError, ValueError, RecursionError):
            return None
        return ended.shell_status if ended else None

    async def _recorded_exit(self) -> int | None:
        """The recorder writes within an instant of the end; without a recorder nobody does."""
        for _ in range(10):
            status = await self._exit_status()
            if status is not None:
                return status
            await self._progress.clock.sleep(0.2)
        return None

    async def _is_alive(self) -> bool:
        pid, start = self._identity.pid, self._identity.start_ticks
        found = await list_processes(self._connection, (pid,))
        mine = next((p for p in found if p.identity.pid == pid), None)
        self._is_listening = mine is not None and self._plan.ports[0] in mine.listening
        return mine is not None and mine.identity.start_ticks == start and mine.state not in "ZX"

    async def _is_ready(self) -> bool:
        """The log says so, or /ready does, which is cheap and which older versions lack."""
        if Milestone.READY in self._reached:
            return True
        if not self._is_listening:
            return False
        try:
            async with self._client() as client:
                answer = await client.get("/ready", timeout_s=3)
        except (ServerAnswerError, DeadlineError):
            return False
        return answer.is_ok

    def _client(self) -> SglangClient:
        arguments = parse_argv(self._plan.launch_argv)
        return SglangClient(
            self._connection.session.transport(),
            self._plan.ports[0],
            address=reachable_address(arguments.address),
            key=self._keys.api,
            admin_key=self._keys.admin,
        )

    # ------------------------------------------------------------------ ends

    async def _ready(self, proofs: tuple[Proof, ...]) -> Outcome:
        self._reached.setdefault(Milestone.READY, self.elapsed_s)
        ready_s = self._reached[Milestone.READY]
        await ask_records(
            self._connection,
            "write",
            part="ready",
            value={"reached": dict(self._reached), "ready_after_s": ready_s},
            state_dir=self._state_dir,
            launch_id=self._plan.id,
        )
        self._progress.done("ready", f"ready after {minutes(ready_s)}")
        notes = (*await self._load_corpora(), *self._soak())
        words = f"Ready in {minutes(ready_s)} on port {self._plan.ports[0]}."
        self._progress.finish(words, succeeded=True)
        return self._outcome(words, succeeded=True, proofs=proofs, notes=notes)

    async def _load_corpora(self) -> tuple[str, ...]:
        recipe = self._plan.recipe
        if recipe is None or not recipe.corpora:
            return ()
        self._progress.begin("corpora", "loading n-gram corpora")
        async with self._client() as client:
            words = await load_corpora(client, recipe.corpora, self._plan.version)
        self._progress.done("corpora", "; ".join(words))
        return words

    def _soak(self) -> tuple[str, ...]:
        """Offered, never sent by itself."""
        return tuple(check.next_step for check in self._plan.checks if check.name == "soak")

    async def _failed(self, exit_status: int | None, proofs: tuple[Proof, ...]) -> Outcome:
        lines = await read_log_end(self._connection, self._log.path)
        cause = first_cause(lines, exit_status=exit_status, version=self._plan.version)
        words = cause.words if cause else exit_words(exit_status)
        hint = cause.next_step if cause else f"specctl logs {self._plan.host}/{self.name}"
        if exit_status is None and self._is_port_taken:
            hint = f"It hangs. specctl stop {self._plan.host}/{self.name}, then start elsewhere."
        self._progress.fail("ready", words)
        self._progress.finish(words, succeeded=False)
        return self._outcome(
            words,
            succeeded=False,
            hint=hint,
            proofs=proofs,
            cause=cause,
            exit_status=exit_status,
            log_excerpt=excerpt(lines, cause),
            notes=await self._left_behind(),
        )

    async def _left_behind(self) -> tuple[str, ...]:
        """Processes of the failed launch that live on, and hold what they hold."""
        found = await list_processes(self._connection)
        left = [p for p in found if p.identity.marker == self._plan.id and p.state not in "ZX"]
        if not left:
            return ()
        pids = ", ".join(str(process.identity.pid) for process in left)
        stop = f"specctl stop {self._plan.host}/{self.name}"
        return (f"{len(left)} of its processes live on ({pids}); {stop} ends them",)

    def _outcome(self, words: str, *, succeeded: bool, **parts: Any) -> Outcome:
        return Outcome(
            self._plan.id,
            self._plan.host,
            succeeded=succeeded,
            words=words,
            server=self.name,
            log_path=self._log.path,
            reached=tuple(self._reached.items()),
            elapsed_s=self.elapsed_s,
            **parts,
        )
