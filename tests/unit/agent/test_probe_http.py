"""Answers in every shape a server may give them."""

from __future__ import annotations

import pytest

from specctl.agent.probe_http import AnswerReader, BrokenAnswerError, Endpoint

CHUNKED = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
    b'5;name=value\r\ndata:\r\nA\r\n {"a":1}\n\n\r\n0\r\nTrailer: x\r\n\r\n'
)
CHUNKED_BODY = b'data: {"a":1}\n\n'
LENGTH = b"HTTP/1.0 200\r\ncontent-length: 4\r\n\r\nbody"


def read(pieces: list[bytes]) -> tuple[AnswerReader, bytes]:
    reader = AnswerReader()
    return reader, b"".join(reader.feed(piece) for piece in pieces)


@pytest.mark.parametrize("cut", range(len(CHUNKED) + 1))
def test_chunked_answer_cut_anywhere_reads_the_same(cut):
    reader, body = read([CHUNKED[:cut], CHUNKED[cut:]])
    assert (reader.status, body, reader.is_done) == (200, CHUNKED_BODY, True)


@pytest.mark.parametrize(("raw", "expected"), [(CHUNKED, CHUNKED_BODY), (LENGTH, b"body")])
def test_answer_byte_by_byte(raw, expected):
    reader, body = read([raw[i : i + 1] for i in range(len(raw))])
    assert (reader.status, body, reader.is_done) == (200, expected, True)


def test_body_of_the_announced_length_ignores_what_follows():
    reader, body = read([LENGTH + b"HTTP/1.1 500 Not ours\r\n\r\n"])
    assert (body, reader.is_done) == (b"body", True)


def test_body_without_length_lasts_until_the_peer_closes():
    reader, body = read([b"HTTP/1.1 200 OK\r\n\r\nab", b"cd"])
    assert (body, reader.is_done) == (b"abcd", False)
    reader.end()
    assert reader.is_done


@pytest.mark.parametrize("status", [204, 304])
def test_answers_without_body_end_at_the_head(status):
    reader, body = read([f"HTTP/1.1 {status} Nothing\r\n\r\n".encode()])
    assert (body, reader.is_done) == (b"", True)


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 7\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcd",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"0" * 2000,
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000,
    ],
)
def test_what_is_not_http_is_malformed(raw):
    with pytest.raises(BrokenAnswerError) as caught:
        read([raw])
    assert caught.value.kind == "malformed"


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b"", "no answer"),
        (b"HTTP/1.1 2", "truncated"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", "truncated"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", "truncated"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n", "truncated"),
    ],
)
def test_closing_early_says_how_early(raw, kind):
    reader, _ = read([raw])
    with pytest.raises(BrokenAnswerError) as caught:
        reader.end()
    assert caught.value.kind == kind


def test_request_carries_its_headers_and_length():
    endpoint = Endpoint("::1", 30000, {"Authorization": "Bearer k"})
    assert endpoint.request_bytes("POST", "/generate", b"{}") == (
        b"POST /generate HTTP/1.1\r\nHost: [::1]:30000\r\nAuthorization: Bearer k\r\n"
        b"Content-Length: 2\r\nConnection: close\r\n\r\n{}"
    )


@pytest.mark.parametrize(("path", "key"), [("/a\r\nX: y", "k"), ("/a", "k\nX: y")])
def test_line_breaks_cannot_smuggle_headers(path, key):
    with pytest.raises(ValueError, match="line break"):
        Endpoint("127.0.0.1", 1, {"Authorization": key}).request_bytes("GET", path, b"")
