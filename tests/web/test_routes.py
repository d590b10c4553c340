"""Every route of the web server over a real socket: who is refused, and what every answer says."""

from __future__ import annotations

import asyncio
import re

import aiohttp
import pytest

from specctl.adapters.web import server as web_server
from specctl.adapters.web.files import read_files
from specctl.domain.web.headers import ALWAYS
from tests.web.serving import serving

INSIDE = ("", "ws", "static/textual.js", "static/page.js", "static/nothing", "download/key", "x")
ROUTES = ("/", "/enter?token=x", "/static/textual.js", "/favicon.ico", *INSIDE)
FOREIGN = {
    "evil origin": {"Origin": "http://evil.example"},
    "null origin": {"Origin": "null"},
    "neighbour's origin": {"Origin": "http://127.0.0.1:1"},
    "evil host": {"Host": "evil.example"},
    "rebound host": {"Host": "evil.example:80", "Origin": "http://evil.example:80"},
    "machine's other name": {"Host": "192.0.2.1"},
}


def address(web, route):
    return web.origin + route if route.startswith("/") else web.inside + route


async def test_without_a_cookie_every_route_is_refused_alike():
    async with serving() as web:
        await web.let_in()
        for route in [route for route in ROUTES if "enter" not in route]:
            for cookie in ("", "specctl-screen=", "specctl-screen=wrong"):
                headers = {"Cookie": cookie, "Origin": web.origin}
                status, text, _ = await web.get(address(web, route), **headers)
                assert (route, status) == (route, 403)
                assert "not let in" in text


async def test_with_a_cookie_a_foreign_name_or_origin_is_refused_on_every_route():
    async with serving() as web:
        mine = await web.let_in()
        for route in ROUTES:
            for what, headers in FOREIGN.items():
                status, text, _ = await web.get(address(web, route), **{**mine, **headers})
                assert (what, route, status) == (what, route, 403)
                assert "specctl:" in text


async def test_a_foreign_page_cannot_open_a_socket_with_the_cookie_either():
    async with serving() as web:
        mine = await web.let_in()
        without_origin = {"Cookie": mine["Cookie"]}
        for headers in (*FOREIGN.values(), None):
            wrong = without_origin if headers is None else {**mine, **headers}
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                await web.open(wrong)
            assert refused.value.status == 403
        assert web.server.screens.open == {}


async def test_the_link_is_exchanged_once_and_is_gone_from_the_address():
    async with serving() as web:
        link = web.origin + web.server.new_link()
        status, text, headers = await web.get(link)
        assert (status, text) == (303, "")
        assert headers["Location"] == f"/{web.server.folder}/"
        cookie = headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert f"Path=/{web.server.folder}/" in cookie
        assert "Secure" not in cookie
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"

        status, text, headers = await web.get(link)
        assert status == 403
        assert "used before" in text
        assert "Enter in the terminal" in text
        assert "Set-Cookie" not in headers


@pytest.mark.parametrize("token", ["", "wrong", "a" * 4000, "%00", "%ff"])
async def test_a_wrong_token_lets_nobody_in_and_keeps_the_link_good(token):
    async with serving() as web:
        link = web.server.new_link()
        status, text, headers = await web.get(f"{web.origin}/enter?token={token}")
        assert status == 403
        assert "not good" in text
        assert "Set-Cookie" not in headers
        assert (await web.get(web.origin + link))[0] == 303


async def test_looking_ahead_or_at_the_head_does_not_use_the_link_up():
    async with serving() as web:
        link = web.origin + web.server.new_link()
        assert (await web.get(link, **{"Sec-Purpose": "prefetch;prerender"}))[0] == 403
        async with web.client.head(link) as answer:
            assert answer.status == 403
        assert (await web.get(link))[0] == 303


async def test_from_another_page_it_goes_on_without_a_redirect():
    async with serving() as web:
        link = web.origin + web.server.new_link()
        status, _, headers = await web.get(link, **{"Sec-Fetch-Site": "cross-site"})
        assert status == 200
        assert headers["Refresh"] == f"0; url=/{web.server.folder}/"
        assert "SameSite=Strict" in headers["Set-Cookie"]


async def test_behind_tls_the_cookie_stays_there():
    async with serving(public_url="https://ops.example.com") as web:
        _, _, headers = await web.get(web.origin + web.server.new_link())
        assert "Secure" in headers["Set-Cookie"]


async def test_every_answer_has_the_headers_and_no_page_runs_what_is_not_its_own():
    async with serving() as web:
        mine = await web.let_in()
        for route in ROUTES:
            for headers in (mine, {}):
                _, _, got = await web.get(address(web, route), **headers)
                assert {name: got.get(name) for name in ALWAYS} == ALWAYS, route
                policy = got.get("Content-Security-Policy", "")
                if "static" not in route:
                    assert policy.startswith("default-src 'none'"), route
                    assert "unsafe" not in policy


async def test_nothing_is_loaded_from_elsewhere():
    async with serving() as web:
        mine = await web.let_in()
        status, page, _ = await web.get(web.inside, **mine)
        assert status == 200
        assert "//" not in page.replace("<!DOCTYPE html>", "")
        assert "<style" not in page
        for name, file in read_files().items():
            status, text, headers = await web.get(f"{web.inside}static/{name}", **mine)
            assert status == 200
            assert headers["Content-Type"].startswith(file.content_type)
            assert text.encode("latin-1") == file.body
            if name.endswith(".css"):
                assert "http" not in text.partition("*/")[2]


async def test_there_are_files_by_name_only():
    async with serving() as web:
        mine = await web.let_in()
        for name in ("", "..%2fpage.html", "%2e%2e/x", "js/textual.js", "page.html"):
            assert (await web.get(f"{web.inside}static/{name}", **mine))[0] == 404
        for method in ("POST", "PUT", "DELETE", "HEAD", "OPTIONS"):
            async with web.client.request(method, web.inside, headers=mine) as answer:
                assert answer.status == 405


async def raw(web, text):
    """What comes back for bytes that no client library would send."""
    reader, writer = await asyncio.open_connection("127.0.0.1", web.port)
    writer.write(text.encode("latin-1"))
    try:
        async with asyncio.timeout(20):
            return (await reader.read()).decode("latin-1")
    finally:
        writer.close()
        await writer.wait_closed()


async def test_two_hosts_or_none_are_refused():
    async with serving() as web:
        own, end = f"Host: 127.0.0.1:{web.port}\r\n", "Connection: close\r\n\r\n"
        for hosts in ("", own + own, own + "Host: evil.example\r\n", "Host:\r\n"):
            answer = await raw(web, f"GET {web.server.new_link()} HTTP/1.1\r\n{hosts}{end}")
            assert answer[9:12] in {"400", "403"}, answer
            assert "Set-Cookie" not in answer


async def test_what_is_no_request_is_one_line_in_the_log():
    async with serving() as web:
        await raw(web, "\x16\x03\x01 hello\r\n\r\n")
        await raw(web, "GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n")
        assert web.said
        assert [line for line in web.said if not re.fullmatch(r"a request failed: \w+", line)] == []


async def test_who_asks_for_nothing_is_cut_off(monkeypatch):
    monkeypatch.setattr(web_server, "REQUEST_WITHIN_S", 0.1)
    async with serving() as web:
        assert await raw(web, "GET / HT") == ""


async def test_no_more_connections_than_people_need(monkeypatch):
    monkeypatch.setattr(web_server, "CONNECTIONS_MOST", 2)
    async with serving() as web:
        kept = [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(2)]
        while len(web.server.asking) < 2:
            await asyncio.sleep(0.01)
        assert await raw(web, "") == ""
        for _, writer in kept:
            writer.close()
            await writer.wait_closed()


async def test_refusals_do_not_fill_a_log_and_hold_no_secret():
    async with serving() as web:
        link = web.server.new_link()
        for n in range(60):
            await web.get(f"{web.origin}/{n}?token={link}")
        await web.let_in()
        assert len(web.said) < 30
        assert not any(link.partition("=")[2] in line for line in web.said)
