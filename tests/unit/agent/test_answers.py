"""One path of a server, asked for again and again."""

from __future__ import annotations

import socket
import threading
import time
from itertools import islice
from typing import Any

import pytest

from specctl.agent.answers import MAX_BODY_BYTES, answers
from specctl.agent.protocol import OpError
from tests.unit.agent.hostile import hostile_server, sends

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
INTERVAL_S = 0.05


def asked(url: str, **params: Any) -> Any:
    params = {"path": "/v1/loads", "interval_s": INTERVAL_S, "timeout_s": 0.3, **params}
    return answers({"url": url, **params}, threading.Event())


class KeepsOpen:
    """A server that answers each request on the connection it came on."""

    def __init__(self, answer: bytes, *, closes_after: int | None = None) -> None:
        self.answer, self.closes_after = answer, closes_after
        self.heads: list[bytes] = []
        self.connections = 0
        self._listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                made, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            with made:
                count = 0
                while count != self.closes_after and (head := made.recv(4096)):
                    self.heads.append(head)
                    made.sendall(self.answer)
                    count += 1

    def close(self) -> None:
        self._listening.close()


def test_each_interval_has_an_item_on_one_connection_at_the_instants_of_samples():
    server = KeepsOpen(OK)
    times: list[float] = []
    for item in islice(asked(server.url, headers={"Authorization": "Bearer k"}), 4):
        times.append(time.time())
        assert item == {"status": 200, "body": "{}"}
    server.close()
    assert server.connections == 1
    assert all(b"GET /v1/loads HTTP/1.1" in head for head in server.heads)
    assert all(b"Authorization: Bearer k" in head for head in server.heads)
    assert times[-1] - times[0] == pytest.approx(3 * INTERVAL_S, abs=INTERVAL_S)


def test_a_connection_that_the_server_closed_is_made_again_without_a_word():
    server = KeepsOpen(OK, closes_after=1)
    items = list(islice(asked(server.url), 3))
    server.close()
    assert items == [{"status": 200, "body": "{}"}] * 3
    assert server.connections == 3


@pytest.mark.parametrize(
    ("answer", "item"),
    [
        (b"HTTP/1.1 401 No\r\nContent-Length: 1\r\n\r\nx", {"status": 401, "body": "x"}),
        (b"HTTP/1.1 200 OK\r\n\r\n\xff", {"status": 200, "body": "\N{REPLACEMENT CHARACTER}"}),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
            {"status": 200, "body": "a"},
        ),
    ],
)
def test_any_status_and_shape_of_an_answer_is_handed_on(answer, item):
    with hostile_server([sends(answer)]) as server:
        assert list(islice(asked(server.url), 2)) == [item, item]


@pytest.mark.parametrize(
    ("script", "error"),
    [
        (sends(hang=True), "timed out"),
        (sends(*[b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 50], pause_s=0.02), "timed out"),
        (sends(), "broken"),
        (sends(b"SSH-2.0\r\n\r\n"), "broken"),
        (sends(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (MAX_BODY_BYTES + 1)), "broken"),
    ],
)
def test_what_went_wrong_is_said_and_asked_again(script, error):
    with hostile_server([script, sends(OK)]) as server:
        first, second = islice(asked(server.url), 2)
    assert (first["error"], second) == (error, {"status": 200, "body": "{}"})


def test_a_port_where_nobody_listens_refuses():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        item = next(asked(f"http://127.0.0.1:{taken.getsockname()[1]}"))
    assert item["error"] == "refused"


def test_a_cancelled_stream_ends():
    cancelled = threading.Event()
    cancelled.set()
    assert list(answers({"url": "http://127.0.0.1:1", "path": "/"}, cancelled)) == []


@pytest.mark.parametrize("wrong", [{"url": "https://127.0.0.1:1"}, {"path": ""}])
def test_parameters_that_make_no_sense_are_refused(wrong):
    with pytest.raises(OpError):
        next(asked(**{"url": "http://127.0.0.1:1", **wrong}))
