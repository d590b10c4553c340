"""The probe's loop against real sockets that misbehave."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any

import pytest

from specctl.agent import probe
from tests.unit.agent.hostile import Hostile, hostile_server, sends

OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def event(tokens: int, reason: object = None) -> bytes:
    meta = {"completion_tokens": tokens, "finish_reason": reason}
    return b"data: " + json.dumps({"text": "x" * tokens, "meta_info": meta}).encode() + b"\n\n"


def ask(
    url: str, requests: int = 1, *, stream: bool = False, **params: Any
) -> tuple[list[Any], Any]:
    items: list[Any] = []
    wanted = [
        {"index": i, "path": "/generate", "body": {"text": str(i)}, "stream": stream}
        for i in range(requests)
    ]
    params = {"url": url, "requests": wanted, "timeout_s": 5, **params}
    end = probe.run(params, items.append, lambda: False)
    return items, end


FAILURES = {
    "http 503": [sends(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nbusy")],
    "no answer": [sends()],
    "no answer ": [sends(reset=True)],
    "truncated": [sends(STREAM_HEAD, chunk(event(1)))],
    "truncated ": [sends(STREAM_HEAD, chunk(event(1)), b"0\r\n\r\n")],
    "reset mid-stream": [sends(STREAM_HEAD, chunk(event(1)), pause_s=0.05, reset=True)],
    "timed out": [sends(STREAM_HEAD, chunk(event(1)), hang=True)],
    "timed out ": [sends(hang=True)],
    "malformed": [sends(b"+OK POP3 ready\r\n\r\n")],
}


@pytest.mark.parametrize("kind", FAILURES)
def test_d08_each_failure_has_its_name_and_is_not_retried(kind):
    with hostile_server(FAILURES[kind]) as server:
        items, _ = ask(server.url, stream=True, timeout_s=0.5)
    assert [item["error"] for item in items] == [kind.strip()]
    assert len(server.requests) == 1


def test_d08_an_error_object_inside_a_200_stream_is_a_failure():
    oom = chunk(b'data: {"error":{"message":"oom","code":500}}\n\n') + chunk(b"data: [DONE]\n\n")
    with hostile_server([sends(STREAM_HEAD, chunk(event(1)), oom + b"0\r\n\r\n")]) as server:
        items, _ = ask(server.url, stream=True)
    assert (items[0]["error"], items[0]["detail"]) == ("error in stream", "oom")


def test_d08_a_refused_connection_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        items, _ = ask(f"http://127.0.0.1:{taken.getsockname()[1]}")
    assert items[0]["error"] == "refused"


def test_a_name_of_several_addresses_is_asked_where_it_answers(monkeypatch):
    with hostile_server([sends(OK_HEAD + b"{}")]) as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = [
            (socket.AF_INET, taken.getsockname()),
            (socket.AF_INET, ("127.0.0.1", server.port)),
        ]
        monkeypatch.setattr(probe, "resolve", lambda _address, _port: found)
        items, _ = ask(f"http://localhost:{server.port}", 3, concurrency=3)
    assert [item.get("body") for item in items] == ["{}"] * 3
    assert len(server.requests) == 3


def test_d08_one_failure_leaves_the_others_measured():
    scripts = [sends(OK_HEAD + b"{}"), sends(reset=True), sends(OK_HEAD + b"{}")]
    with hostile_server(scripts) as server:
        items, _ = ask(server.url, 3)
    assert [item.get("error") for item in items] == [None, "no answer", None]
    assert len(server.requests) == 3


def test_interim_answers_slow_bodies_and_split_chunks_are_read():
    raw = b"HTTP/1.1 100 Continue\r\n\r\n" + STREAM_HEAD
    raw += chunk(event(1)) + chunk(event(3, {"type": "length"}) + b"data: [DONE]\n\n")
    pieces = [raw[i : i + 7] for i in range(0, len(raw), 7)] + [b"0\r\n\r\n"]
    with hostile_server([sends(*pieces, pause_s=0.001)]) as server:
        items, _ = ask(server.url, stream=True)
    assert [tokens for _, tokens in items[0]["chunks"]] == [1, 2]
    assert "error" not in items[0]


def test_times_are_taken_when_bytes_arrive():
    pieces = [STREAM_HEAD, chunk(event(1)), chunk(event(2, {"type": "stop"})) + b"0\r\n\r\n"]
    with hostile_server([sends(*pieces, pause_s=0.1)]) as server:
        items, _ = ask(server.url, stream=True)
    (first, _), (second, _) = items[0]["chunks"]
    assert 0.08 < first < 0.3
    assert 0.08 < second - first < 0.3
    assert items[0]["latency_s"] == pytest.approx(second, abs=0.05)


def test_body_without_length_is_read_to_the_end():
    with hostile_server([sends(b"HTTP/1.1 200 OK\r\n\r\n", b'{"a":', b"1}")]) as server:
        items, _ = ask(server.url)
    assert items[0]["body"] == '{"a":1}'


def test_as_many_requests_are_in_flight_as_asked_for():
    with hostile_server([sends(OK_HEAD + b"{}", pause_s=0.05)]) as server:
        items, end = ask(server.url, 12, concurrency=4)
    assert sorted(item["index"] for item in items) == list(range(12))
    assert server.most_at_once == 4
    assert end["wall_s"] >= 0.15
    assert 0 <= end["cpu_s"] < end["wall_s"]


def test_requests_are_sent_when_they_are_due_and_wait_for_a_place():
    with hostile_server([sends(OK_HEAD + b"{}", pause_s=0.2)]) as server:
        wanted = [
            {"index": i, "path": "/generate", "body": {}, "due_s": due_s}
            for i, due_s in enumerate((0.0, 0.1, 0.2, 0.8))
        ]
        params = {"url": server.url, "requests": wanted, "timeout_s": 5, "concurrency": 2}
        items: list[Any] = []
        probe.run(params, items.append, lambda: False)
    began = {item["index"]: item["began_s"] for item in items}
    assert all(began[i] >= request["due_s"] for i, request in enumerate(wanted))
    assert server.most_at_once == 2
    first_end_s = min(item["began_s"] + item["latency_s"] for item in items)
    assert began[2] >= first_end_s - 0.01


def test_headers_and_a_key_from_a_file_reach_the_server(tmp_path):
    key = tmp_path / "key"
    key.write_text("secret\n")
    with hostile_server([sends(OK_HEAD + b"{}")]) as server:
        ask(server.url, headers={"X-Run": "1"}, api_key_file=str(key))
    assert b"Authorization: Bearer secret\r\n" in server.requests[0]
    assert b"X-Run: 1\r\n" in server.requests[0]


def test_cancelling_lets_go_of_the_server_at_once():
    cancelled = threading.Event()

    def cancel_when_asked(server: Hostile) -> None:
        while not server.requests:
            time.sleep(0.005)
        cancelled.set()

    with hostile_server([sends(hang=True)]) as server:
        threading.Thread(target=cancel_when_asked, args=(server,)).start()
        wanted = [{"index": 0, "path": "/generate", "body": {}}]
        end = probe.run(
            {"url": server.url, "requests": wanted, "timeout_s": 30}, print, cancelled.is_set
        )
    assert end["cancelled"]
    assert end["wall_s"] < 5


@pytest.mark.parametrize(
    "params",
    [{"url": "https://127.0.0.1:1"}, {"url": "http://127.0.0.1"}, {"concurrency": 0}],
)
def test_parameters_that_make_no_sense_are_refused(params):
    with pytest.raises(ValueError, match=r"url|concurrency"):
        probe.run({"url": "http://127.0.0.1:1", "requests": [], **params}, print, lambda: False)
