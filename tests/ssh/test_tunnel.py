from __future__ import annotations

import asyncio
import contextlib
import itertools
import statistics
import time

import httpx
import pytest

from specctl.adapters.forwarding import forward_port
from specctl.domain.errors import UnreachableError, UsageError
from tests.ssh.sshd import LOOPBACK, free_port


@contextlib.asynccontextmanager
async def _server(answer):
    """A TCP server whose connections `answer(reader, writer)` serves; gives its port."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader, writer):
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await answer(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _http(reader, writer):
    """Answers each request with its own body, or streams events for /stream."""
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            (
                int(h.split(":")[1])
                for h in head.split("\r\n")
                if h.lower().startswith("content-le")
            ),
            0,
        )
        body = await reader.readexactly(length)
        if " /hang " in head:
            await asyncio.sleep(30)
        if " /cut " in head:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
            return
        if " /stream " in head:
            writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(50):
                writer.write(b"5\r\nevent\r\n")
                await writer.drain()
                await asyncio.sleep(0.01)
            writer.write(b"0\r\n\r\n")
        else:
            answer = body or head.split(" ")[1].encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(answer) + answer)
        await writer.drain()


def _client(session, port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=session.transport(), base_url=f"http://{LOOPBACK}:{port}", timeout=20
    )


async def test_requests_reach_the_hosts_loopback(session):
    async with _server(_http) as port, _client(session, port) as client:
        assert (await client.get("/hello")).text == "/hello"
        body = bytes(range(256)) * 8192
        assert (await client.post("/", content=body)).content == body
        answers = await asyncio.gather(*(client.get(f"/{n}") for n in range(50)))
        assert [a.text for a in answers] == [f"/{n}" for n in range(50)]


async def test_a_closed_port_is_a_connect_error_that_names_host_and_port(session):
    port = free_port()
    async with _client(session, port) as client:
        with pytest.raises(httpx.ConnectError, match=f"host gpu: .*{LOOPBACK}:{port}"):
            await client.get("/")
    with pytest.raises(UnreachableError, match=str(port)):
        await session.connect_tcp(LOOPBACK, port)


async def test_a_silent_server_is_a_read_timeout_and_the_client_lives_on(session):
    async with _server(_http) as port, _client(session, port) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/hang", timeout=httpx.Timeout(5, read=0.3))
        assert (await client.get("/after")).text == "/after"


async def test_an_answer_cut_short_is_a_protocol_error(session):
    async with _server(_http) as port, _client(session, port) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get("/cut")


async def test_an_idle_connection_that_the_server_closed_is_not_used_again(session):
    async def one_answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()

    async with _server(one_answer) as port, _client(session, port) as client:
        for _ in range(3):
            assert (await client.get("/")).text == "ok"
            await asyncio.sleep(0.05)


async def test_closing_one_client_leaves_the_session(session):
    async with _server(_http) as port:
        for _ in range(2):
            async with _client(session, port) as client:
                assert (await client.get("/x")).text == "/x"
    assert not session.is_closed


async def test_a_lost_connection_is_a_transport_error(lab, connected):
    server = await lab.server("gpu")
    async with (
        connected("gpu") as session,
        _server(_http) as port,
        _client(session, port) as client,
    ):
        assert (await client.get("/x")).text == "/x"
        server.signal_connections(9)
        await session.wait_closed()
        with pytest.raises(httpx.TransportError):
            await client.get("/x")


async def test_forwarding_forbidden_by_the_host_is_a_connect_error(lab, connected):
    await lab.server("gpu", "AllowTcpForwarding no")
    async with (
        connected("gpu") as session,
        _server(_http) as port,
        _client(session, port) as client,
    ):
        with pytest.raises(httpx.ConnectError, match=r"prohibited|open failed"):
            await client.get("/x")


async def test_events_are_not_held_back_by_nagles_algorithm(session):
    """OpenSSH enables TCP_NODELAY with the first session channel; without, gaps are 40 ms."""
    async with (
        _server(_http) as port,
        _client(session, port) as client,
        client.stream("GET", "/stream") as response,
    ):
        times = [time.perf_counter() async for _ in response.aiter_raw()]
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(times) >= 40
    assert statistics.median(gaps) < 0.03


async def test_a_forwarded_port_carries_both_ways_and_closes_with_its_block(session):
    body = b"x" * (1 << 20)
    async with (
        _server(_http) as port,
        forward_port(session, port) as local,
        httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{local}") as client,
    ):
        assert (await client.post("/", content=body)).content == body
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection(LOOPBACK, local)


async def test_half_closing_passes_through_a_forwarded_port(session):
    async def until_end(reader, writer):
        writer.write(b"got %d" % len(await reader.read()))
        await writer.drain()

    async with _server(until_end) as port, forward_port(session, port) as local:
        reader, writer = await asyncio.open_connection(LOOPBACK, local)
        writer.write(b"12345")
        writer.write_eof()
        assert await reader.read() == b"got 5"
        writer.close()
        await writer.wait_closed()


async def test_a_local_port_that_is_taken_is_a_usage_error(session):
    async with forward_port(session, 1) as taken:
        with pytest.raises(UsageError, match=f"port {taken} of this machine"):
            async with forward_port(session, 1, taken):
                pass


async def test_a_refused_far_port_closes_the_forwarded_connection(session):
    async with forward_port(session, free_port()) as local:
        reader, writer = await asyncio.open_connection(LOOPBACK, local)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
