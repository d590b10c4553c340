"""`specctl web --open`: a browser in a window where there is a display, a sentence where not."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import aiohttp
import pytest

from tests.browser import DISPLAYED, WITHIN_S, debugging_port, eventually
from tests.web.program import specctl_web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.timeout(150)
WORDS = ("web", "--open", "--port", "0")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "ws/remotes").mkdir(parents=True)
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return kept | {"HOME": str(tmp_path), "SPECCTL_WORKSPACE": str(tmp_path / "ws")}


@contextmanager
def display() -> Iterator[str]:
    """An X server without a screen, while the block runs."""
    ours, its = os.pipe()
    argv = ["Xvfb", "-displayfd", str(its), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    process = subprocess.Popen(argv, pass_fds=[its], stderr=subprocess.DEVNULL)
    os.close(its)
    try:
        with os.fdopen(ours) as said:
            yield f":{said.readline().strip()}"
    finally:
        process.terminate()
        process.wait()


def browser(folder: Path) -> str:
    """A command for Chromium in a window, that lets itself be asked what it shows."""
    script = folder / "browser"
    script.write_text(
        f'#!/bin/sh\nexec chromium {" ".join(DISPLAYED)} --user-data-dir={folder}/profile "$@" '
        f"2>{folder}/browser.log\n"
    )
    script.chmod(0o755)
    return f"{script} %s &"


async def test_a_browser_with_a_window_shows_the_screen(environ, tmp_path):
    with display() as name:
        environ |= {"DISPLAY": name, "BROWSER": browser(tmp_path)}
        async with specctl_web(environ, *WORDS) as program:
            port = await debugging_port(tmp_path / "profile")

            async def pages() -> list[str]:
                address = f"http://127.0.0.1:{port}/json/list"
                async with aiohttp.ClientSession() as client, client.get(address) as answer:
                    return [str(one["url"]) for one in await answer.json()]

            await eventually(pages, lambda urls: _are_let_in(urls, program.origin))
            await eventually(lambda: _of(program.children()), bool)
            assert not any("warning" in line for line in program.said)
            await _closed(port)


def _are_let_in(urls: list[str], origin: str) -> bool:
    """One is of specctl, and its link was exchanged: no token is left in its address."""
    return any(url.startswith(origin) and "token" not in url for url in urls)


async def _of(value: list[int]) -> list[int]:
    return value


async def _closed(port: int) -> None:
    """The browser is told to end, as by its window."""
    async with aiohttp.ClientSession() as client:
        async with client.get(f"http://127.0.0.1:{port}/json/version") as answer:
            address = (await answer.json())["webSocketDebuggerUrl"]
        async with client.ws_connect(address) as socket:
            await socket.send_json({"id": 1, "method": "Browser.close"})
            await socket.receive(timeout=WITHIN_S)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, "there is no browser here: this terminal has no display; open the link yourself"),
        (
            {"DISPLAY": ":9", "BROWSER": "/usr/bin/w3m"},
            "/usr/bin/w3m may take this terminal, so it is not started; open the link yourself",
        ),
    ],
    ids=["no display", "of the terminal"],
)
async def test_where_there_is_none_it_says_so_and_serves(environ, more, words):
    async with specctl_web(environ | more, *WORDS) as program:
        await program.until_said(f"specctl: warning: {words}")
        jar = aiohttp.CookieJar(unsafe=True)
        async with (
            aiohttp.ClientSession(cookie_jar=jar) as client,
            client.get(program.link) as answer,
        ):
            assert answer.status == 200
