"""The requests that the main process waits for, and its side of the scheduler's wire."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from specctl.lab.requests import Request

HEALTH_PREFIX = "HEALTH_CHECK"
_MOST_LINE_BYTES = 1 << 24


@dataclass
class Pending:
    """One request under way."""

    rid: str
    prompt_tokens: int
    received_s: float
    """Wall clock."""

    dispatched_s: float = 0.0
    first_s: float | None = None
    finished_s: float | None = None
    tokens: list[int] = field(default_factory=list)
    finish: dict[str, Any] | None = None
    account: dict[str, Any] | None = None
    is_streaming: bool = False
    is_logged: bool = True
    """Counted in the metrics."""

    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def updates(self) -> AsyncIterator[int]:
        """The number of tokens so far, each time that it grew; ends with the request."""
        seen = 0
        while True:
            await self.news.wait()
            self.news.clear()
            if len(self.tokens) > seen or self.finish is not None:
                seen = len(self.tokens)
                yield seen
            if self.finish is not None:
                return


class SchedulerLink:
    """Sends orders, takes steps in; the last snapshot stays when the scheduler is stuck."""

    def __init__(self, on_finish: Callable[[Pending], None]) -> None:
        self._on_finish = on_finish
        self._writer: asyncio.StreamWriter | None = None
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._next = 0
        self.pending: dict[str, Pending] = {}
        self.snapshot: dict[str, Any] = {}
        self.published: dict[str, Any] = {}
        """The snapshot that /v1/loads shows: renewed every so many decode steps."""

        self.reported: dict[str, Any] = {}
        """The snapshot of the last report: what gauges of older releases show."""

        self.last_heard_s = 0.0
        self.publish_interval = 15
        self._steps = 0

    async def run(self, end: socket.socket) -> None:
        """Take in what the scheduler says until it is gone."""
        reader, self._writer = await asyncio.open_connection(sock=end, limit=_MOST_LINE_BYTES)
        while line := await reader.readline():
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        self.last_heard_s = time.time_ns() / 1e9
        if message["on"] == "reply":
            future = self._replies.pop(message["id"], None)
            if future is not None and not future.done():
                future.set_result(message)
        elif message["on"] == "step":
            self._take_step(message)

    def _take_step(self, message: dict[str, Any]) -> None:
        self.snapshot = message["snapshot"]
        self._steps += 1
        is_idle = not self.snapshot["running"] and not self.snapshot["waiting"]
        if message["report"] or is_idle or self._steps % self.publish_interval == 0:
            self.published = self.snapshot
        if message["report"]:
            self.reported = self.snapshot
        for rid, tokens, finish, account in message["out"]:
            self._take_emission(rid, tokens, finish, account)

    def _take_emission(
        self, rid: str, tokens: list[int], finish: dict[str, Any] | None, account: Any
    ) -> None:
        request = self.pending.get(rid)
        if request is None:
            return
        if tokens and request.first_s is None:
            request.first_s = self.last_heard_s
        request.tokens += tokens
        if finish is not None:
            request.finish, request.account = finish, account
            request.finished_s = self.last_heard_s
            if account:
                _time(request, account)
            del self.pending[rid]
            if request.is_logged:
                self._on_finish(request)
        request.news.set()

    # ------------------------------------------------ orders
    def tell(self, **order: Any) -> None:
        """Send an order that has no answer."""
        if self._writer is None:
            raise ConnectionResetError("the scheduler is gone")
        self._writer.write(json.dumps(order, separators=(",", ":")).encode() + b"\n")

    async def ask(self, **order: Any) -> dict[str, Any]:
        """Send an order, and wait for its answer."""
        self._next += 1
        future = asyncio.get_running_loop().create_future()
        self._replies[self._next] = future
        self.tell(id=self._next, **order)
        answer: dict[str, Any] = await future
        return answer

    def submit(self, requests: Sequence[tuple[Request, Pending]]) -> None:
        """Hand requests over together: they can become one batch."""
        now = time.time_ns() / 1e9
        items = []
        for request, pending in requests:
            pending.dispatched_s = now
            self.pending[request.rid] = pending
            items.append(
                {
                    "rid": request.rid,
                    "tokens": list(request.tokens),
                    "max_new_tokens": request.max_new_tokens,
                    "temperature": request.temperature,
                    "seed": request.seed,
                    "stop_token_ids": list(request.stop_token_ids),
                    "stop": list(request.stop),
                    "ignore_eos": request.ignore_eos,
                }
            )
        self.tell(do="submit", requests=items)

    def forget(self, rid: str) -> None:
        """Nobody waits for it any more: it is aborted."""
        if self.pending.pop(rid, None) is not None:
            self.tell(do="abort", rids=[rid])

    @property
    def waited_for(self) -> list[str]:
        """The rids of requests that users wait for."""
        return [rid for rid in self.pending if not rid.startswith(HEALTH_PREFIX)]


def _time(request: Pending, account: Mapping[str, Any]) -> None:
    """What the server says of time is the engine's: a busy machine slows no GPU down."""
    begun_s = request.dispatched_s - account["submitted_s"]
    if account["first_token_s"] is not None:
        request.first_s = begun_s + account["first_token_s"]
    if account["finished_s"] is not None:
        request.finished_s = begun_s + account["finished_s"]
