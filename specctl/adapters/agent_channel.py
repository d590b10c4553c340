"""The one long-lived channel to a host's agent: requests, answers and streams, matched by id."""

from __future__ import annotations

import asyncio
import contextlib
import json
from itertools import count
from typing import TYPE_CHECKING, Any, Self

from specctl.adapters.agent_start import FailedStart, Hello, read_hello
from specctl.adapters.agent_stream import StreamQueue
from specctl.adapters.bundle import agent_bundle, pynvml_source
from specctl.domain.errors import (
    AgentAnswerError,
    AgentError,
    ConnectionLostError,
    DeadlineError,
    HostError,
    SpecctlError,
)
from specctl.domain.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from contextlib import AbstractContextManager

    from specctl.adapters.bundle import Bundle
    from specctl.adapters.command_log import HostLog
    from specctl.adapters.session import Process, Session

START_S = 20.0
_CLOSE_S = 2.0
_PATIENCE_S = 5.0
"""How long all other answers wait for the reader of a full stream before it is cut off."""

_PREAMBLE_BYTES = 8 << 10
_LOAD_S = 30.0


class AgentStream:
    """The items of one streaming op; leaving it early cancels the op on the host.

    Use `async with`, or read it to its end: a stream that is merely forgotten runs on for a while.
    """

    def __init__(self, items: AsyncGenerator[dict[str, Any]], queue: StreamQueue) -> None:
        self._items, self._queue = items, queue

    @property
    def end(self) -> dict[str, Any] | None:
        """What the agent said at the end; None before it."""
        return self._queue.end

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> dict[str, Any]:
        return await anext(self._items)

    async def aclose(self) -> None:
        """Cancel the op on the host, unless it has ended."""
        await self._items.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AgentChannel:
    """An agent that said hello."""

    def __init__(
        self, session: Session, process: Process, lines: AsyncIterator[bytes], hello: Hello
    ) -> None:
        self.host, self.hello = session.host, hello
        self._session, self._process, self._lines = session, process, lines
        self._ids = count(1)
        self.log: HostLog | None = None
        """Where ops are noted; None where nobody wants to know."""

        self._calls: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._streams: dict[int, StreamQueue] = {}
        self._ended: asyncio.Future[HostError] = asyncio.get_running_loop().create_future()
        self._reader = asyncio.create_task(  # noqa: TID251  kept here, awaited by close
            self._read(), name=f"agent of {self.host}"
        )

    @classmethod
    async def start(
        cls,
        session: Session,
        python: Sequence[str],
        *,
        timeout_s: float = START_S,
        bundle: Bundle | None = None,
    ) -> AgentChannel:
        """Stream the agent to the host and wait for its hello; raises AgentError."""
        bundle = bundle or agent_bundle(python)
        process = await session.open(bundle.argv)
        try:
            lines, hello = await first_words(session.host, process, python, bundle, timeout_s)
            channel = cls(session, process, lines, read_hello(session.host, hello))
        except BaseException:
            await process.close()
            raise
        try:
            await channel._bring_pynvml()
        except BaseException:
            await channel.close()
            raise
        return channel

    async def _bring_pynvml(self) -> None:
        """Lend the host the operator's pynvml when it has none of its own."""
        if not self.hello.has_pynvml and (source := pynvml_source()) is not None:
            await self.call("load", timeout_s=_LOAD_S, modules={"pynvml": source})

    async def call(self, op: str, *, timeout_s: float = 10, **params: Any) -> dict[str, Any]:
        """Ask and wait for the one answer; raises AgentAnswerError when it is a refusal."""
        with self._noted(op, params):
            return await self._ask(op, timeout_s, params)

    async def ping(self, *, timeout_s: float = 10) -> None:
        """Wait for an answer that costs the agent nothing; it is noted nowhere."""
        await self._ask("cancel", timeout_s, {"id": 0})

    def _noted(self, op: str, params: dict[str, Any]) -> AbstractContextManager[object]:
        return self.log.op(op, params) if self.log is not None else contextlib.nullcontext()

    async def _ask(self, op: str, timeout_s: float, params: dict[str, Any]) -> dict[str, Any]:
        identifier = next(self._ids)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._calls[identifier] = answer
        try:
            async with asyncio.timeout(timeout_s):
                await self._send(identifier, op, params)
                return await answer
        except TimeoutError as error:
            await self._cancel(identifier)
            raise DeadlineError(
                f"host {self.host}: the agent did not answer `{op}` within {timeout_s:g} s"
            ) from error
        except asyncio.CancelledError:
            await self._cancel(identifier)
            raise
        finally:
            del self._calls[identifier]

    def stream(self, op: str, **params: Any) -> AgentStream:
        """The items of a streaming op, which starts when the first is asked for."""
        queue = StreamQueue()
        return AgentStream(self._items(op, params, queue), queue)

    async def _items(
        self, op: str, params: dict[str, Any], queue: StreamQueue
    ) -> AsyncGenerator[dict[str, Any]]:
        identifier = next(self._ids)
        self._streams[identifier] = queue
        try:
            with self._noted(op, params):
                await self._send(identifier, op, params)
            while (item := await queue.get()) is not None:
                yield item
        finally:
            self._streams.pop(identifier, None)
            if not queue.is_ended:
                await self._cancel(identifier)

    async def close(self) -> None:
        """Let the agent read end of file, which ends it, and stop listening."""
        with contextlib.suppress(SpecctlError):
            await self._process.close_stdin()
        await asyncio.wait([self._reader], timeout=_CLOSE_S)
        self._reader.cancel()
        await asyncio.wait([self._reader], timeout=_CLOSE_S)
        await self._process.close()
        self._fail(AgentError(f"host {self.host}: the agent was closed"))

    @property
    def is_closed(self) -> bool:
        """It has ended, or the way to it has."""
        return self._ended.done()

    async def wait_closed(self) -> HostError:
        """Wait until it has ended; returns the error that says why."""
        return await asyncio.shield(self._ended)

    # ------------------------------------------------------------------ out

    async def _send(self, identifier: int, op: str, params: dict[str, Any]) -> None:
        if self._ended.done():
            raise self._ended.result()
        line = json.dumps({"id": identifier, "op": op, "params": params}, separators=(",", ":"))
        try:
            await self._process.write(line.encode("ascii") + b"\n")
        except ConnectionLostError:
            # the reader learns why, and tells it to every waiter
            await asyncio.wait([self._ended], timeout=_CLOSE_S)
            if self._ended.done():
                raise self._ended.result() from None
            raise

    async def _cancel(self, identifier: int) -> None:
        with contextlib.suppress(SpecctlError):  # an agent that is gone has cancelled everything
            await self._send(next(self._ids), "cancel", {"id": identifier})

    # ------------------------------------------------------------------ in

    async def _read(self) -> None:
        error: HostError = AgentError(f"host {self.host}: the agent is no longer listened to")
        try:
            async for line in self._lines:
                await self._take(line)
            error = await self._why_ended()
        except ConnectionLostError as lost:
            error = await self._why_lost(lost)
        except HostError as broken:
            error = broken
        except SpecctlError as broken:
            error = AgentError(f"host {self.host}: the agent broke its protocol: {broken.message}")
        finally:
            self._fail(error)

    async def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            identifier = message["id"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            said = shorten(clean(line.decode("utf-8", "replace")), 120)
            raise AgentError(
                f"host {self.host}: the agent broke its protocol: it said {said}"
            ) from error
        if (queue := self._streams.get(identifier)) is not None:
            await self._take_for_stream(identifier, queue, message)
        elif (answer := self._calls.get(identifier)) is not None and not answer.done():
            if "error" in message:
                answer.set_exception(self._refusal(message["error"]))
            else:
                answer.set_result(message.get("ok") or {})

    async def _take_for_stream(
        self, identifier: int, queue: StreamQueue, message: dict[str, Any]
    ) -> None:
        if "error" in message:
            queue.fail(self._refusal(message["error"]))
        elif "item" in message:
            if not await queue.put(message["item"], patience_s=_PATIENCE_S):
                self._streams.pop(identifier, None)
                queue.fail(AgentError(f"host {self.host}: a stream was not read in time"))
                await self._cancel(identifier)
        else:
            queue.finish(message.get("end") or message.get("ok") or {})

    def _refusal(self, error: Any) -> AgentAnswerError:
        found = error if isinstance(error, dict) else {}
        words = clean(str(found.get("message", "no reason given")))
        return AgentAnswerError(f"host {self.host}: {words}", kind=str(found.get("kind", "error")))

    async def _why_ended(self) -> HostError:
        try:
            async with asyncio.timeout(_CLOSE_S):
                status = await self._process.wait()
        except TimeoutError:
            return AgentError(f"host {self.host}: the agent closed its output and still runs")
        tail = await self._process.stderr_tail()
        last = shorten(tail.strip().rpartition("\n")[2], 300)
        return AgentError(
            f"host {self.host}: the agent ended with status {status}", hint=last and f"Last: {last}"
        )

    async def _why_lost(self, lost: ConnectionLostError) -> ConnectionLostError:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                reason = await self._session.wait_closed()
                return ConnectionLostError(f"host {self.host}: the connection was lost: {reason}")
        return lost

    def _fail(self, error: HostError) -> None:
        """Tell everyone who waits; the first reason stands."""
        if not self._ended.done():
            self._ended.set_result(error)
        for answer in self._calls.values():
            if not answer.done():
                answer.set_exception(error)
        for queue in self._streams.values():
            queue.fail(error)


async def first_words(
    host: str, process: Process, python: Sequence[str], bundle: Bundle, timeout_s: float
) -> tuple[AsyncIterator[bytes], bytes]:
    """Send the bundle; the message after its marker, and the lines that follow."""
    lines, preamble, marker = process.lines(), bytearray(), bundle.marker.encode() + b" "
    status: int | None = None
    try:
        async with asyncio.timeout(timeout_s):
            with contextlib.suppress(ConnectionLostError):  # it ended: its words say why
                await process.write(bundle.payload)
            async for line in lines:
                if line.startswith(marker):
                    return lines, line.removeprefix(marker)
                preamble = (preamble + line + b"\n")[-_PREAMBLE_BYTES:]
            status = await process.wait()
    except TimeoutError:
        pass
    words = bytes(preamble).decode("utf-8", "replace")
    raise FailedStart(host, python, status, await process.stderr_tail(), words).error()
