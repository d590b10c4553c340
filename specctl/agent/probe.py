"""The `probe` operation: sends given requests to a server on this host and times the answers.

A closed loop keeps as many requests in flight as asked for. An open loop sends each when it is due,
in order; when as many as allowed are in flight already, those due wait for a free place, and the
wait shows in `began_s`. Each is sent once and never retried. What the answers mean is for the
reader of the items to say.
"""

from __future__ import annotations

import json
import select
import time
from collections import deque
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .probe_answer import Answer
from .probe_exchange import Exchange, resolve
from .probe_http import BrokenAnswerError, Endpoint

if TYPE_CHECKING:
    from typing import Any, Callable, Deque, Dict, List, Mapping, Optional

    Request = Mapping[str, Any]
    Emit = Callable[[Dict[str, Any]], None]

TICK_S = 0.05
"""How often it is looked whether the operation was cancelled or an answer is overdue."""

NOT_SENT = ("refused", "unreachable")


def run(params: Request, emit: Emit, is_cancelled: Callable[[], bool]) -> Dict[str, Any]:
    """Send `params["requests"]`, emit one item for each as it ends; returns the window's figures.

    Raises ValueError when the parameters make no sense.
    """
    window = _Window(params, emit, is_cancelled)
    try:
        return window.run()
    finally:
        window.close()


class _InFlight:
    """One request on its way."""

    exchange: Exchange
    where: Any = None
    wants = 0

    def __init__(self, request: Request, payload: bytes, began_at: float) -> None:
        self.request, self.payload, self.began_at = request, payload, began_at
        self.answer = Answer(is_streamed=bool(request.get("stream")))


class _Window:
    """One loop over the requests, with its own cost measured beside it."""

    def __init__(self, params: Request, emit: Emit, is_cancelled: Callable[[], bool]) -> None:
        url = urlsplit(params["url"])
        if url.scheme != "http" or not url.hostname or not url.port:
            raise ValueError("url must be http://ADDRESS:PORT")
        headers = {"Content-Type": "application/json", **_read_headers(params)}
        self.endpoint = Endpoint(url.hostname, url.port, headers)
        self.concurrency = int(params.get("concurrency", 1))
        if self.concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self.timeout_s = float(params.get("timeout_s", 600))
        self.waiting: Deque[Request] = deque(params["requests"])
        self.emit, self.is_cancelled = emit, is_cancelled
        self.flying: Dict[int, _InFlight] = {}
        self.addresses: List[Any] = []
        self.lags: List[float] = []
        self.began_at = 0.0
        self.epoll = select.epoll()

    def close(self) -> None:
        """Let go of the server."""
        for one in self.flying.values():
            one.exchange.close()
        self.epoll.close()

    def run(self) -> Dict[str, Any]:
        began_unix, cpu = time.time(), time.thread_time()
        self.began_at = time.perf_counter()
        tick_at = self.began_at + TICK_S
        self._start_due(self.began_at)
        while self.flying or self.waiting:
            now = self._wait(tick_at)
            if now >= tick_at:
                if self.is_cancelled():
                    break
                self.lags.append(now - tick_at)
                self._expire(now)
                tick_at = now + TICK_S
            if self.waiting:
                self._start_due(now)
        return {
            "began_at": began_unix,
            "wall_s": time.perf_counter() - self.began_at,
            "cpu_s": time.thread_time() - cpu,
            "loop_lag_p99_ms": _p99(self.lags) * 1000,
            "cancelled": self.is_cancelled(),
        }

    def _wait(self, tick_at: float) -> float:
        """Until something comes or is due; takes what came, then reads it. Returns when it woke."""
        until = tick_at
        if self.waiting and len(self.flying) < self.concurrency:
            until = min(until, self._due_at(self.waiting[0]))
        arrived = self.epoll.poll(max(0.0, until - time.perf_counter()))
        now = time.perf_counter()
        ready = []
        for fd, mask in arrived:
            one = self.flying[fd]
            if one.exchange.ready(mask):
                ready.append(fd)
            if one.wants != one.exchange.wants:
                one.wants = one.exchange.wants
                self.epoll.modify(fd, one.wants)
        for fd in ready:
            self._settle(fd)
        return now

    def _settle(self, fd: int) -> None:
        one = self.flying[fd]
        try:
            if one.exchange.settle():
                self._finish(fd, one, None)
        except BrokenAnswerError as error:
            self._finish(fd, one, error)

    def _finish(self, fd: int, one: _InFlight, error: Optional[BrokenAnswerError]) -> None:
        del self.flying[fd]
        one.exchange.close()
        if error is None:
            self.emit(self._item(one))
        else:
            self._fail(one, error)

    def _fail(self, one: _InFlight, error: BrokenAnswerError) -> None:
        """Nothing was sent to an address that refuses: another of the same name may answer."""
        others = [where for where in self.addresses if where != one.where]
        if others and error.kind in NOT_SENT:
            self.addresses = others
            self._connect(one)
        else:
            self.emit(self._failed_item(one, error))

    def _expire(self, now: float) -> None:
        for fd, one in list(self.flying.items()):
            if now - one.began_at >= self.timeout_s:
                self._settle(fd)
                if self.flying.get(fd) is one:
                    late = BrokenAnswerError("timed out", "after %g s" % self.timeout_s)
                    self._finish(fd, one, late)

    def _due_at(self, request: Request) -> float:
        return self.began_at + float(request.get("due_s") or 0.0)

    def _start_due(self, now: float) -> None:
        while self.waiting and len(self.flying) < self.concurrency:
            if self._due_at(self.waiting[0]) > now:
                return
            self._start(self.waiting.popleft())

    def _start(self, request: Request) -> None:
        body = request.get("body")
        payload = self.endpoint.request_bytes(
            request.get("method", "POST"),
            request["path"],
            b"" if body is None else json.dumps(body).encode(),
        )
        self._connect(_InFlight(request, payload, time.perf_counter()))

    def _connect(self, one: _InFlight) -> None:
        is_streamed = one.answer.record is not None
        try:
            self.addresses = self.addresses or resolve(self.endpoint.address, self.endpoint.port)
            one.where = self.addresses[0]
            one.exchange = Exchange(
                one.payload, one.answer.take, one.where, is_streamed=is_streamed
            )
        except BrokenAnswerError as error:
            self._fail(one, error)
            return
        one.wants = one.exchange.wants
        self.epoll.register(one.exchange.fileno, one.wants)
        self.flying[one.exchange.fileno] = one

    def _item(self, one: _InFlight) -> Dict[str, Any]:
        made, item = one.exchange, self._begun(one)
        sent_at, ended_at = made.sent_at or 0.0, made.ended_at or 0.0
        item.update(latency_s=ended_at - sent_at, status=made.reader.status)
        if made.first_byte_at is not None:
            item["first_byte_s"] = made.first_byte_at - sent_at
        item.update(one.answer.whole(made.reader.status, sent_at, ended_at))
        return item

    def _failed_item(self, one: _InFlight, error: BrokenAnswerError) -> Dict[str, Any]:
        item = self._begun(one)
        item.update(one.answer.partial(), error=error.kind, detail=error.detail)
        item["latency_s"] = time.perf_counter() - one.began_at
        return item

    def _begun(self, one: _InFlight) -> Dict[str, Any]:
        return {"index": one.request["index"], "began_s": one.began_at - self.began_at}


def _read_headers(params: Request) -> Dict[str, str]:
    headers = dict(params.get("headers") or {})
    if params.get("api_key_file"):
        with open(params["api_key_file"], encoding="utf-8") as file:
            headers["Authorization"] = "Bearer " + file.read().strip()
    return headers


def _p99(values: List[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else 0.0
