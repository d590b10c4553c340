"""Screens over their sockets: what is passed on, how many there are, and that they end."""

from __future__ import annotations

import asyncio
import gc
import os

import pytest
from aiohttp import WSMsgType

from specctl.adapters.web import child
from specctl.adapters.web.screens import Limits
from tests.web.serving import DEAF, ECHO, FAILING, serving


async def painted(socket):
    said = await socket.receive(timeout=20)
    assert said.type is WSMsgType.BINARY, said
    return said.data.decode()


async def close_reason(socket):
    while (said := await socket.receive(timeout=20)).type is WSMsgType.BINARY:
        pass
    assert said.type is WSMsgType.CLOSE, said
    return socket.close_code, said.extra


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def all_closed(web):
    async with asyncio.timeout(20):
        while web.server.screens.open:
            await asyncio.sleep(0.01)


async def test_keys_go_in_and_paint_comes_out():
    async with serving() as web:
        socket = await web.open(await web.let_in())
        assert (await painted(socket)).endswith("of 100x30")
        for said, heard in (
            (["stdin", "j–"], "Dj–"),
            (["resize", {"width": 9999, "height": 1}],
             'M{"type": "resize", "width": 500, "height": 5}'),
            (["focus"], 'M{"type": "focus"}'),
            (["blur"], 'M{"type": "blur"}'),
        ):  # fmt: skip
            await socket.send_json(said)
            assert await painted(socket) == heard
        await socket.send_json(["ping", "17"])
        assert await socket.receive_json() == ["pong", "17"]


@pytest.mark.parametrize("query", ["", "?width=x&height=1", "?width=80", "?width=1e9&height=2"])
async def test_a_size_that_is_none_is_the_usual_one(query):
    async with serving() as web:
        socket = await web.open(await web.let_in(), query)
        assert (await painted(socket)).endswith("of 80x24")


async def test_the_process_ends_with_its_socket():
    async with serving() as web:
        socket = await web.open(await web.let_in())
        pid = int((await painted(socket)).split()[1])
        assert lives(pid)
        await socket.close()
        await all_closed(web)
        assert not lives(pid)


async def test_the_process_ends_with_the_server_and_the_browser_is_told():
    async with serving() as web:
        socket = await web.open(await web.let_in())
        pid = int((await painted(socket)).split()[1])
        closing = asyncio.gather(web.server.screens.close_all(), close_reason(socket))
        assert (await closing)[1] == (1001, "specctl web has ended.")
        assert not lives(pid)


async def test_one_that_does_not_hear_is_killed_without_a_word_from_python(monkeypatch):
    monkeypatch.setattr(child, "_QUIT_S", 0.1)
    monkeypatch.setattr(child, "_TERM_S", 0.1)
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: complaints.append(about))
    async with serving(DEAF) as web:
        socket = await web.open(await web.let_in())
        assert await painted(socket) == "deaf"
        await socket.close()
        await all_closed(web)
    gc.collect()
    assert complaints == []


async def test_why_a_screen_could_not_begin_is_said_in_the_browser():
    async with serving(FAILING) as web:
        socket = await web.open(await web.let_in())
        assert await close_reason(socket) == (1000, "specctl: ws: no workspace here")
        assert "a screen failed: specctl: ws: no workspace here" in web.said


@pytest.mark.parametrize(
    ("ending", "words"),
    [("1 / 0", "ZeroDivisionError: division by zero"), ("print('chatter', file=sys.stderr)", ""),
     ("os._exit(3)", "The screen ended without a word.")],
)  # fmt: skip
async def test_only_a_screen_that_failed_says_why(ending, words):
    async with serving(ECHO + ending) as web:
        socket = await web.open(await web.let_in())
        await painted(socket)
        await socket.send_json(["stdin", "leave"])
        assert await close_reason(socket) == (1000, words)


async def test_no_more_screens_than_allowed():
    async with serving(limits=Limits(screens=1)) as web:
        mine = await web.let_in()
        first = await web.open(mine)
        await painted(first)
        code, words = await close_reason(await web.open(mine))
        assert (code, words) == (1013, "1 screens are open: close one first.")
        await first.close()
        await all_closed(web)
        await painted(await web.open(mine))


async def test_no_more_than_two_begin_at_once(monkeypatch):
    monkeypatch.setattr(child, "_QUIT_S", 0.1)
    async with serving("import time; time.sleep(60)", Limits(screens=9)) as web:
        mine = await web.let_in()
        _begun = [await web.open(mine), await web.open(mine)]
        code, words = await close_reason(await web.open(mine))
        assert code == 1013
        assert "just being opened" in words


async def test_a_screen_without_keys_is_closed():
    async with serving(limits=Limits(idle_s=0.3)) as web:
        socket = await web.open(await web.let_in())
        await socket.send_json(["ping", "1"])
        code, words = await close_reason_after_pongs(socket)
        assert code == 1000
        assert "without a key" in words


async def close_reason_after_pongs(socket):
    while (said := await socket.receive(timeout=20)).type in {WSMsgType.BINARY, WSMsgType.TEXT}:
        pass
    return socket.close_code, said.extra


@pytest.mark.parametrize(
    "said",
    ["", "{", '["exec", "id"]', '["resize", 1]', "[" * 60_000],
    ids=["empty", "no JSON", "unknown", "no size", "deep"],
)
async def test_what_no_terminal_says_closes_the_socket(said):
    async with serving() as web:
        socket = await web.open(await web.let_in())
        await painted(socket)
        await socket.send_str(said)
        assert (await close_reason(socket))[0] == 1008


async def test_bytes_and_more_than_anybody_types_close_the_socket():
    async with serving() as web:
        mine = await web.let_in()
        socket = await web.open(mine)
        await socket.send_bytes(b"x")
        assert (await close_reason(socket))[0] == 1008
        socket = await web.open(mine)
        await socket.send_json(["stdin", "x" * 70_000])
        assert (await close_reason(socket))[0] == 1009
        await all_closed(web)


async def test_no_secret_is_an_argument_or_a_variable_of_a_screen():
    async with serving() as web:
        link = web.server.new_link()
        mine = await web.let_in()
        socket = await web.open(mine)
        pid = int((await painted(socket)).split()[1])
        for name in ("cmdline", "environ"):
            with open(f"/proc/{pid}/{name}", "rb") as file:
                text = file.read().decode()
            assert link.partition("=")[2] not in text
            assert mine["Cookie"].partition("=")[2] not in text
