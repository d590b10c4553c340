"""One probe of one server, step by step."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from specctl.adapters.workloads import read_warm_up
from specctl.domain.errors import DeadlineError, RefusedError, RemoteFailedError, ServerAnswerError
from specctl.domain.fillers import Filled, fill, find_unfilled, make_fillers
from specctl.domain.probe import Prompt, Void, VoidKind
from specctl.domain.probing import Window, add_up
from specctl.domain.simulated_acceptance import VARIABLES, forced_on, forced_words
from specctl.domain.training import refuse_shared_rendered
from specctl.domain.validity import (
    find_busy_client,
    find_changed_server,
    find_degenerate,
    find_failures,
    find_late_client,
    find_other_traffic,
    find_retracted,
    find_slow_client,
    find_unwired_draft,
    find_warm_cache,
)
from specctl.domain.workload import choose_streamed, refuse_repeated
from specctl.services.gpu_watch import GpuWatch
from specctl.services.host_reading import list_processes
from specctl.services.probe_sending import MEASURING, STREAMING, TRAINING, WARMING, Sender
from specctl.services.rendering import render

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.domain.energy import Energy
    from specctl.domain.probe import ProbeResult, RequestResult
    from specctl.domain.state import Store
    from specctl.domain.validity import Traffic
    from specctl.domain.workload import Rendered
    from specctl.facts.server_info import ServerInfo
    from specctl.services.measured_server import Flushed, MeasuredServer, Reading
    from specctl.services.probe_sending import Pass, Settings

TRAFFIC_UNKNOWN = (
    "whether other requests ran could not be counted: the server has no /metrics "
    "(start it with --enable-metrics)"
)
"""Only running requests before and after were looked at, where even that was possible."""

TRIE_AS_FOUND = (
    "the n-gram trie was not flushed: drafts may come from earlier outputs, which no counter shows"
)

WARM_STREAMS = "first-token times are of a cache that holds these prompts"
TRAINED_STREAMS = "first-token times are of a cache that holds that set"


@dataclass(frozen=True, slots=True)
class _Ready:
    """Everything decided before the first request."""

    info: ServerInfo
    rendering: str
    """How the prompts became what is sent."""

    prompts: tuple[Rendered, ...]
    warm_up: tuple[Rendered, ...]
    training: tuple[Rendered, ...] = ()
    fillers: tuple[Rendered, ...] = ()
    """Twice the concurrency for the measured loop, as many for the streamed one."""


@dataclass(frozen=True, slots=True)
class _Sent:
    """What was sent and answered in the window."""

    main: Pass
    side: tuple[Pass, ...] = ()
    """Of a closed loop: the streamed requests."""

    energy: Energy | None = None
    notes: tuple[str, ...] = ()
    training: tuple[Pass, ...] = ()
    """In no figure."""

    @property
    def all(self) -> tuple[RequestResult, ...]:
        """Every request, fillers and training too."""
        passes = (*self.training, self.main, *self.side)
        return tuple(result for one in passes for result in one.sent)

    @property
    def streamed(self) -> tuple[RequestResult, ...]:
        """Of the streamed requests; empty in an open loop, where all are."""
        return tuple(result for one in self.side for result in one.results)


class ProbeRun:
    """One probe of one server: warm-up, flush, training, measured and streamed requests."""

    def __init__(
        self, measured: MeasuredServer, settings: Settings, store: Store, clock: Clock
    ) -> None:
        self._measured, self._settings = measured, settings
        self._sender = Sender(measured, settings, store, clock)
        self._watch = GpuWatch(measured.connection.agent, measured.server)

    async def run(self) -> ProbeResult:
        """The result, void or not; raises SpecctlError when nothing could be measured."""
        before = await self._measured.read()
        ready = await self._prepare(before.info)
        await self._warm_up(ready)
        flushed = await self._empty_cache()
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watch.run())
                try:
                    return await self._measure(ready, before, flushed)
                finally:
                    watching.cancel()
        except BaseExceptionGroup as errors:
            raise errors.exceptions[0] from None

    async def _prepare(self, info: ServerInfo) -> _Ready:
        settings = self._settings
        chosen = settings.workload.prompts[: settings.most_prompts]
        has_messages = any(prompt.messages for prompt in chosen)
        warm_up = [
            prompt if has_messages else _as_text(prompt) for prompt in read_warm_up(chosen).prompts
        ]
        has_batch = settings.arrivals is None and settings.concurrency > 1
        fillers = make_fillers(warm_up, 4 * settings.concurrency if has_batch else 0)
        self._sender.say("rendering prompts", 0, len(chosen))
        training = settings.training.prompts if settings.training else ()
        groups = (chosen, warm_up, training, fillers)
        everything = [prompt for group in groups for prompt in group]
        rendering = await render(self._measured.connection, info, everything)
        found = iter(rendering.prompts)
        prompts, warm, trained, filling = (tuple(islice(found, len(group))) for group in groups)
        refuse_repeated(prompts, (*warm, *filling))
        refuse_shared_rendered(prompts, trained)
        return _Ready(info, rendering.words, prompts, warm, trained, filling)

    async def _warm_up(self, ready: _Ready) -> None:
        running = (await self._measured.traffic(ready.info.version)).running
        if running:
            raise RefusedError(
                f"{running} requests are running on {self._measured.url}: a measurement now would "
                "be void",
                hint="Wait until it is idle.",
            )
        warm = await self._sender.send(ready.info, Filled((), ready.warm_up, ()), WARMING)
        failed = find_failures(warm.results)
        if failed and all(result.error for result in warm.results):
            raise RemoteFailedError(
                f"the server answered no warm-up request: {failed}",
                hint="specctl logs shows what it says.",
            )

    async def _empty_cache(self) -> Flushed | None:
        """None when it was not to be flushed."""
        return None if self._settings.accepts_warm else await self._measured.flush()

    async def _measure(
        self, ready: _Ready, before: Reading, flushed: Flushed | None
    ) -> ProbeResult:
        can_flush = flushed is not None and flushed.done
        identity = await self._watch.identify()
        forced_by = await self._find_forced()
        await self._watch.begin()
        traffic = await self._measured.traffic(ready.info.version)
        send = self._send_closed if self._settings.arrivals is None else self._send_open
        sent = await send(ready, can_flush=can_flush)
        after_traffic = await self._measured.traffic(ready.info.version)
        changed = await self._find_change((*before.identity, *identity))
        gpu_void, gpu_notes = self._watch.findings()
        void = (
            (VoidKind.ARM, find_failures(sent.all)),
            (VoidKind.ARM, find_retracted(sent.all)),
            (VoidKind.NOT_ASKED, changed),
            (VoidKind.NOT_ASKED, forced_words(forced_by)),
            (VoidKind.NOT_ASKED, self._unflushed(ready, flushed)),
            (VoidKind.OUTSIDE, find_other_traffic(traffic, after_traffic, sent.all)),
            *self._judge(ready, sent.main),
            *((one.kind, one.words) for one in gpu_void),
        )
        return add_up(
            replace(self._window(ready, sent, flushed), forced_by=forced_by),
            sent.main.results,
            sent.streamed,
            fillers=sent.main.fillers,
            void=tuple(Void(kind, words) for kind, words in void if words),
            notes=(
                *self._notes(ready, traffic, sent),
                *(() if can_flush or ready.info.algorithm != "NGRAM" else (TRIE_AS_FOUND,)),
                *sent.notes,
                *gpu_notes,
            ),
        )

    def _unflushed(self, ready: _Ready, flushed: Flushed | None) -> str | None:
        """An own server whose n-gram trie should have been empty, and may not be."""
        if ready.info.algorithm != "NGRAM" or flushed is None or flushed.done:
            return None
        return f"{TRIE_AS_FOUND}: {flushed.words}" if self._measured.server.is_ours else None

    async def _find_forced(self) -> str | None:
        """The variable that makes accept lengths up, in the environment of any of its processes."""
        pids = self._measured.server.pids
        found = await list_processes(self._measured.connection, pids, variables=VARIABLES)
        for process in found:
            name = forced_on(dict(process.environment))
            if process.identity.pid in pids and name is not None:
                return name
        return None

    async def _send_closed(self, ready: _Ready, *, can_flush: bool) -> _Sent:
        """The measured loop without streaming, then the streamed one."""
        concurrency = self._settings.concurrency
        measured, streamed = choose_streamed(ready.prompts, can_flush=can_flush)
        loop = fill(measured, ready.fillers, concurrency)
        streams = fill(streamed, ready.fillers[2 * concurrency :], concurrency)
        training = Filled((), ready.training, ())
        self._sender.expect(training, loop, *([training] if can_flush else []), streams)
        trained = await self._train(ready)
        earlier = (*(() if can_flush else ready.warm_up), *ready.training)
        main = await self._sender.send(ready.info, loop, MEASURING, earlier=earlier)
        energy = await self._energy(main)
        notes: tuple[str, ...] = ()
        again = await self._measured.flush() if can_flush else None
        if again is None or not again.done:
            earlier = (*earlier, *loop.sequence)
        else:
            trained += await self._train(ready)
        if again is not None and not again.done:
            notes = (f"{WARM_STREAMS}: {again.words}",)
        side = await self._sender.send(ready.info, streams, STREAMING, earlier=earlier)
        return _Sent(main, (side,), energy, notes, trained)

    async def _train(self, ready: _Ready) -> tuple[Pass, ...]:
        """Send the training set, if there is one: the next loop finds what it left."""
        if not ready.training:
            return ()
        loop = Filled((), ready.training, ())
        return (await self._sender.send(ready.info, loop, TRAINING),)

    async def _send_open(self, ready: _Ready, *, can_flush: bool) -> _Sent:
        """Every request when it is due, streamed: latencies belong to this load alone."""
        loop = Filled((), ready.prompts, ())
        trained = await self._train(ready)
        self._sender.expect(loop)
        earlier = (*(() if can_flush else ready.warm_up), *ready.training)
        main = await self._sender.send(ready.info, loop, MEASURING, earlier=earlier)
        return _Sent(main, energy=await self._energy(main), training=trained)

    async def _energy(self, main: Pass) -> Energy:
        return await self._watch.energy(main.began_at_s, main.began_at_s + main.wall_s)

    async def _find_change(self, before: tuple[tuple[str, str], ...]) -> str | None:
        """Whether it is another server now, or none at all."""
        try:
            after = await self._measured.read()
        except (ServerAnswerError, DeadlineError) as error:
            return f"the server no longer answers: {error.message}"
        return find_changed_server(before, (*after.identity, *await self._watch.identify()))

    def _judge(self, ready: _Ready, main: Pass) -> tuple[tuple[VoidKind, str | None], ...]:
        """What the measured requests themselves say against the window."""
        good = main.good
        is_slow = self._settings.places > 1
        return (
            (VoidKind.NOT_ASKED, None if self._settings.accepts_warm else find_warm_cache(good)),
            (VoidKind.ARM, find_degenerate(good)),
            (VoidKind.NOT_ASKED, find_unwired_draft(good, ready.info.algorithm)),
            (VoidKind.OUTSIDE, find_busy_client(main.cpu_percent)),
            (VoidKind.OUTSIDE, find_slow_client(good) if is_slow else None),
        )

    def _notes(self, ready: _Ready, traffic: Traffic, sent: _Sent) -> tuple[str, ...]:
        settings, main = self._settings, sent.main
        notes = []
        if settings.trained_on is not None:
            notes.append(f"{settings.trained_on.words}: {TRAINED_STREAMS}")
        if traffic.requests is None:
            notes.append(TRAFFIC_UNKNOWN)
        streams = next((one for one in sent.side if one.results), main)
        is_streamed = bool(sent.streamed) or settings.arrivals is not None
        if is_streamed and (late := find_late_client(streams.lag_p99_s)):
            notes.append(late)
        if settings.places == 1 and (slow := find_slow_client(main.good)):
            notes.append(f"{slow}: its throughput is the client's, not the server's")
        if settings.arrivals is None and (
            unfilled := find_unfilled(main.mean_in_flight, settings.concurrency)
        ):
            notes.append(unfilled)
        interval = ready.info.arguments.get("stream_interval")
        if isinstance(interval, int) and interval > 1:
            notes.append(f"the server streams every {interval} tokens (stream-interval)")
        if not settings.workload.sampling.is_greedy:
            words = f"sampled at temperature {settings.workload.sampling.temperature:g}"
            notes.append(f"{words}: outputs of two runs differ")
        return tuple(notes)

    def _window(self, ready: _Ready, sent: _Sent, flushed: Flushed | None) -> Window:
        main = sent.main
        server, workload = self._measured.server, self._settings.workload
        identity = server.identity
        return Window(
            server=server.name,
            profile=server.profile,
            concurrency=self._settings.places,
            algorithm=ready.info.algorithm,
            wall_s=main.window_s,
            sending_s=main.wall_s,
            client_cpu_s=main.cpu_s,
            loop_lag_p99_s=main.lag_p99_s,
            started_at_s=main.began_at_s,
            identity_key=""
            if identity is None
            else f"{identity.boot_id}/{identity.pid}/{identity.start_ticks}",
            cache_state="as found, as asked" if flushed is None else flushed.words,
            workload=workload.name,
            workload_sha256=workload.sha256,
            temperature=workload.sampling.temperature,
            rendering=ready.rendering,
            energy=sent.energy,
            arrivals=self._settings.arrivals,
            trained_on=self._settings.trained_on,
        )


def _as_text(prompt: Prompt) -> Prompt:
    return Prompt(text=prompt.messages[-1][1], max_tokens=prompt.max_tokens)
