"""The screens that are open: at most so many, each a socket and the process behind it."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import WSMsgType

from specctl.adapters.web.child import running
from specctl.domain.web.messages import Pinged, Typed, read_message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from aiohttp.web import WebSocketResponse

    from specctl.adapters.web.child import Child
    from specctl.domain.web.messages import Size

STARTING_MOST = 2
"""Processes that have not painted yet, at a time."""

START_S = 30.0
"""A process that has not painted by then is ended."""

_END_S = 10.0
_REASON_BYTES_MAX = 120
"""A close frame holds no more."""

NORMAL, GOING_AWAY, POLICY, AGAIN_LATER = 1000, 1001, 1008, 1013
Over = tuple[int, str]
"""Why a socket is closed, as a code and in words."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many screens, and how long one lives without a key."""

    screens: int = 4
    idle_s: float = 12 * 3600.0


@dataclass
class Screens:
    """Opens screens and counts them."""

    argv: Sequence[str]
    environ: Mapping[str, str]
    limits: Limits
    say: Callable[[str], None]
    open: dict[asyncio.Task[object], WebSocketResponse] = field(default_factory=dict)
    starting: set[WebSocketResponse] = field(default_factory=set)

    async def show(self, socket: WebSocketResponse, size: Size) -> None:
        """One screen from its first paint to its end, whichever side ends it."""
        if len(self.open) >= self.limits.screens:
            await close(socket, AGAIN_LATER, f"{len(self.open)} screens are open: close one first.")
        elif len(self.starting) >= STARTING_MOST:
            await close(socket, AGAIN_LATER, "Other screens are just being opened: try again.")
        else:
            with self._counted(socket):
                async with running(self.argv, self.environ, size) as child:
                    code, words = await self._until_over(socket, child)
                    await close(socket, code, words)

    @contextmanager
    def _counted(self, socket: WebSocketResponse) -> Iterator[None]:
        task = asyncio.current_task()
        if task is None:  # pragma: no cover
            raise RuntimeError
        self.open[task] = socket
        self.starting.add(socket)
        self.say(f"a screen was opened: {len(self.open)} of {self.limits.screens}")
        try:
            yield
        finally:
            del self.open[task]
            self.starting.discard(socket)
            self.say(f"a screen was closed: {len(self.open)} of {self.limits.screens}")

    async def _until_over(self, socket: WebSocketResponse, child: Child) -> Over:
        async with asyncio.TaskGroup() as group:
            both = [
                group.create_task(self._paint(socket, child)),
                group.create_task(self._hear(socket, child)),
            ]
            done, _ = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in both:
                task.cancel()
        return done.pop().result()

    async def _paint(self, socket: WebSocketResponse, child: Child) -> Over:
        """Everything painted goes to the browser."""
        try:
            async with asyncio.timeout(START_S) as left:
                async for painted in child.paints():
                    left.reschedule(None)
                    self.starting.discard(socket)
                    await socket.send_bytes(painted)
        except TimeoutError:
            return GOING_AWAY, f"The screen did not open within {START_S:.0f} s."
        except ConnectionError:
            return NORMAL, ""
        words = await child.last_words()
        if words:
            self.say(f"a screen failed: {words}")
        return NORMAL, words

    async def _hear(self, socket: WebSocketResponse, child: Child) -> Over:
        """Everything typed goes to the process, until nothing was typed for too long."""
        idle_s, now = self.limits.idle_s, asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(idle_s) as left:
                async for said in socket:
                    message = read_message(said.data) if said.type is WSMsgType.TEXT else None
                    match message:
                        case None:
                            return POLICY, "The browser said what no terminal says."
                        case Pinged(text):
                            await socket.send_json(["pong", text])
                        case Typed():
                            left.reschedule(now() + idle_s)
                    await child.hear(message)
        except TimeoutError:
            return NORMAL, f"Closed after {idle_s / 60:.0f} min without a key."
        except ConnectionError:
            return NORMAL, ""
        return NORMAL, ""

    async def close_all(self) -> None:
        """Every socket is closed, and every process has ended."""
        tasks, words = tuple(self.open), "specctl web has ended."
        await asyncio.gather(*(close(one, GOING_AWAY, words) for one in self.open.values()))
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_END_S)
            for task in late:
                task.cancel()


async def close(socket: WebSocketResponse, code: int, words: str) -> None:
    """Close a socket, if it is not closed yet, and say why."""
    reason = words.encode("ascii", "replace")[:_REASON_BYTES_MAX]
    await socket.close(code=code, message=reason)
