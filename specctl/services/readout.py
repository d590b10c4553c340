"""One look at every host, as far as a single visit can tell: what `specctl status` shows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.events import HostSampled, LinkChanged, ServerSampled, ServersSeen
from specctl.domain.server import ServerState
from specctl.domain.state import Link
from specctl.services.monitor import NEEDS_THE_USER, first_error
from specctl.services.watching import HostWatch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.fleet import Fleet
    from specctl.services.watching import KeysOf

VISIT_S = 20.0

SPEAKING = frozenset({ServerState.READY, ServerState.BUSY, ServerState.DRAINING})


async def read_out(fleet: Fleet, names: Iterable[str], keys: KeysOf) -> None:
    """Visit hosts side by side; what is found is put into the store, failures too."""
    names = tuple(names)
    fleet.describe(names)
    await asyncio.gather(*(_visit(fleet, name, keys) for name in names))


async def _visit(fleet: Fleet, name: str, keys: KeysOf) -> None:
    def say(link: Link, error: SpecctlError | None = None) -> None:
        words, hint = (error.message, error.hint) if error else ("", "")
        fleet.store.apply(LinkChanged(name, fleet.clock.now(), link, words, hint))

    try:
        async with asyncio.timeout(VISIT_S):
            connection = await fleet.connect(name)
            say(Link.UP)
            watch = HostWatch(
                connection,
                fleet.store,
                fleet.clock,
                interval_s=1.0,
                keys=keys,
                ready_timeout_s=lambda server: None,
            )
            await _watch_until_known(fleet, watch)
    except SpecctlError as error:
        say(Link.REFUSED if isinstance(error, NEEDS_THE_USER) else Link.LOST, error)
    except TimeoutError:
        late = SpecctlError(f"host {name}: not everything answered within {VISIT_S:g} s")
        say(Link.LOST, late)


async def _watch_until_known(fleet: Fleet, watch: HostWatch) -> None:
    known = asyncio.Event()
    seen: list[Event] = []

    def hear(event: Event, state: State) -> None:
        if event.host == watch.name:
            seen.append(event)
            if _is_enough(seen, state, watch.name):
                known.set()

    leave = fleet.store.subscribe(hear)
    try:
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch.run())
            await _first(known, watching)
            watching.cancel()
    except* SpecctlError as errors:
        raise first_error(errors) from None
    finally:
        leave()


async def _first(known: asyncio.Event, watching: asyncio.Task[None]) -> None:
    """Wait for what is needed, or for the watching to fail."""
    waiting = asyncio.ensure_future(known.wait())  # noqa: TID251  awaited right here
    try:
        await asyncio.wait({waiting, watching}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


def _is_enough(seen: list[Event], state: State, host: str) -> bool:
    """Two samples with GPUs or the reason for none, two looks, two answers of each server."""
    servers, sample = state.host(host).servers, state.host(host).sample
    if sample is None or not sample.tells_of_gpus:
        return False
    looks = sum(isinstance(event, ServersSeen) for event in seen)
    samples = sum(isinstance(event, HostSampled) for event in seen)
    if servers is None or samples < 2 or looks < (2 if servers else 1):  # noqa: PLR2004
        return False
    speaking = {server.name for server in servers if server.state in SPEAKING}
    answers = [event.server for event in seen if isinstance(event, ServerSampled)]
    return all(answers.count(name) > 1 for name in speaking)
