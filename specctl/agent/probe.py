"""The `probe` operation: sends given requests to a server on this host and times the answers.

A closed loop keeps as many requests in flight as asked for. An open loop sends each when it is due,
in order; when as many as allowed are in flight already, those due wait for a free place, and the
wait shows in `began_s`. Each is sent once and never retried. What the answers mean is for the
reader of the items to say.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .probe_http import BrokenAnswerError, Endpoint
from .probe_stream import StreamRecord

if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional

MAX_BODY_BYTES = 384 * 1024
"""Of an answer that is handed on whole; an item has to fit one line of the protocol."""

MAX_ERROR_CHARACTERS = 500
LAG_EVERY_S = 0.05
OK = 200


def run(
    params: Mapping[str, Any],
    emit: Callable[[Dict[str, Any]], None],
    is_cancelled: Callable[[], bool],
) -> Dict[str, Any]:
    """Send `params["requests"]`, emit one item for each as it ends; returns the window's figures.

    Raises ValueError when the parameters make no sense.
    """
    return asyncio.run(_Window(params, emit, is_cancelled).run())


class _Window:
    """One loop over the requests, with its own cost measured beside it."""

    def __init__(
        self,
        params: Mapping[str, Any],
        emit: Callable[[Dict[str, Any]], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        url = urlsplit(params["url"])
        if url.scheme != "http" or not url.hostname or not url.port:
            raise ValueError("url must be http://ADDRESS:PORT")
        headers = {"Content-Type": "application/json", **_read_headers(params)}
        self.endpoint = Endpoint(url.hostname, url.port, headers)
        self.concurrency = int(params.get("concurrency", 1))
        if self.concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        self.timeout_s = float(params.get("timeout_s", 600))
        self.concurrency = min(self.concurrency, max(1, len(params["requests"])))
        self.requests: Iterator[Mapping[str, Any]] = iter(params["requests"])
        self.emit, self.is_cancelled = emit, is_cancelled
        self.lags: List[float] = []
        self.began_at = 0.0

    async def run(self) -> Dict[str, Any]:
        began_unix, cpu = time.time(), time.thread_time()
        self.began_at = time.perf_counter()
        work = asyncio.gather(*(self._work() for _ in range(self.concurrency)))
        lag_meter = asyncio.ensure_future(self._measure_lag())
        ends: List[asyncio.Future[Any]] = [work, lag_meter]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            wall_s = time.perf_counter() - self.began_at
            cpu_s = time.thread_time() - cpu
            if work.done():
                work.result()
        finally:
            work.cancel()
            lag_meter.cancel()
            await asyncio.gather(work, lag_meter, return_exceptions=True)
        return {
            "began_at": began_unix,
            "wall_s": wall_s,
            "cpu_s": cpu_s,
            "loop_lag_p99_ms": _p99(self.lags) * 1000,
            "cancelled": self.is_cancelled(),
        }

    async def _work(self) -> None:
        for request in self.requests:
            due_s = request.get("due_s")
            if due_s is not None:
                await asyncio.sleep(self.began_at + due_s - time.perf_counter())
            self.emit(await self._measure(request))

    async def _measure_lag(self) -> None:
        """Watches how late this loop wakes up; ends when the operation is cancelled."""
        while not self.is_cancelled():
            before = time.perf_counter()
            await asyncio.sleep(LAG_EVERY_S)
            self.lags.append(time.perf_counter() - before - LAG_EVERY_S)

    async def _measure(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        answer = _Answer(StreamRecord() if request.get("stream") else None)
        body = request.get("body")
        payload = self.endpoint.request_bytes(
            request.get("method", "POST"),
            request["path"],
            b"" if body is None else json.dumps(body).encode(),
        )
        begun_at = time.perf_counter()
        item: Dict[str, Any] = {"index": request["index"], "began_s": begun_at - self.began_at}
        try:
            made, sent_at, ended_at = await self.endpoint.exchange(
                payload, answer.take, self.timeout_s
            )
        except BrokenAnswerError as error:
            item.update(answer.partial(), error=error.kind, detail=error.detail)
            item["latency_s"] = time.perf_counter() - begun_at
            return item
        item.update(latency_s=ended_at - sent_at, status=made.reader.status)
        if made.first_byte_at is not None:
            item["first_byte_s"] = made.first_byte_at - sent_at
        item.update(answer.whole(made.reader.status, sent_at, ended_at))
        return item


class _Answer:
    """Collects one answer: whole, or as the record of its stream."""

    def __init__(self, record: Optional[StreamRecord]) -> None:
        self.record = record
        self.body: List[bytes] = []
        self.size = 0

    def take(self, status: Optional[int], data: bytes, now: float) -> None:
        if self.record is not None and status == OK:
            try:
                self.record.feed(data, now)
            except ValueError as error:
                raise BrokenAnswerError("malformed", str(error)) from error
            return
        self.size += len(data)
        if self.size > MAX_BODY_BYTES:
            raise BrokenAnswerError("malformed", "an answer over 384 KiB")
        self.body.append(data)

    def whole(self, status: Optional[int], sent_at: float, ended_at: float) -> Dict[str, Any]:
        text = b"".join(self.body).decode("utf-8", "replace")
        if status != OK:
            return {"error": "http %s" % status, "detail": text[:MAX_ERROR_CHARACTERS]}
        if self.record is None:
            return {"body": text}
        self.record.end(ended_at)
        found = _describe(self.record, sent_at)
        if self.record.error is not None:
            found.update(error="error in stream", detail=self.record.error)
        elif not (self.record.has_ended or self.record.finish_reason()):
            found.update(error="truncated", detail="the stream ended without [DONE] or a reason")
        return found

    def partial(self) -> Dict[str, Any]:
        """How far a stream came before it broke off."""
        return {} if self.record is None else {"chunks_before": len(self.record.chunks)}


def _describe(record: StreamRecord, sent_at: float) -> Dict[str, Any]:
    final = dict(record.final or {})
    final.pop("output_ids", None)
    chunks = [[round(at - sent_at, 6), tokens] for at, tokens in record.chunks]
    found: Dict[str, Any] = {"chunks": chunks, "final": final, "text": "".join(record.text)}
    if record.answered_at is not None:
        found["first_answer_s"] = round(record.answered_at - sent_at, 6)
    return found


def _read_headers(params: Mapping[str, Any]) -> Dict[str, str]:
    headers = dict(params.get("headers") or {})
    if params.get("api_key_file"):
        with open(params["api_key_file"], encoding="utf-8") as file:
            headers["Authorization"] = "Bearer " + file.read().strip()
    return headers


def _p99(values: List[float]) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else 0.0
