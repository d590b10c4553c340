"""`specctl web` over a practice host, opened in Debian's Chromium."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from specctl.lab.up import take_down
from tests.browser import CTRL, Browser, Page, browsing
from tests.lab.practice import Practice
from tests.web.program import Program, all_gone, specctl_web

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

pytestmark = pytest.mark.timeout(150)
SMALL = {"width": 800, "height": 600, "deviceScaleFactor": 1, "mobile": False}
WITHOUT_WEBGL = ("--disable-3d-apis", "--disable-webgl")
COLOURS = """
new Set(
  [...document.querySelectorAll(".xterm-rows span")].map((one) => getComputedStyle(one).color)
).size
"""
"""The terminal of a browser without WebGL is made of elements."""

REFUSED = "specctl: "

CLIPBOARD = """
navigator.clipboard.writeText = async (text) => { window.copied = text; }
"""
ATTACK = """
<body><script>
const results = {};
const socket = new WebSocket("ws://127.0.0.1:%(port)d/%(folder)s/ws?width=80&height=24");
socket.onopen = () => { results.socket = "open"; };
socket.onerror = () => { results.socket = "refused"; };
fetch("http://127.0.0.1:%(port)d/%(folder)s/static/page.js", { credentials: "include" })
  .then((answer) => { results.fetch = "status " + answer.status; })
  .catch(() => { results.fetch = "refused"; });
const script = document.createElement("script");
script.src = "http://127.0.0.1:%(port)d/%(folder)s/static/page.js";
script.onload = () => { results.script = "ran"; };
script.onerror = () => { results.script = "refused"; };
document.head.append(script);
window.results = results;
</script><a id="link" href="%(link)s">to specctl</a></body>
"""


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    made = Practice(tmp_path_factory.mktemp("practice"))
    made.up()
    try:
        yield made
    finally:
        take_down(made.lab)


@pytest.fixture
def environ(practice: Practice, tmp_path) -> dict[str, str]:
    (tmp_path / "ws/remotes").mkdir(parents=True)
    return practice.environment | {"SPECCTL_WORKSPACE": str(tmp_path / "ws"), "LC_ALL": "C.UTF-8"}


@asynccontextmanager
async def page_elsewhere(body: str) -> AsyncIterator[str]:
    """A page of another server on this machine."""

    async def answer(_: web.Request) -> web.Response:
        return web.Response(text=body, content_type="text/html")

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def width(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)


def numbers(text: str) -> list[str]:
    """What the fleet shows of the practice host."""
    return [line for line in text.splitlines() if re.search(r"lab-1 .*\d+%", line)]


@asynccontextmanager
async def opened(environ, folder, *options: str) -> AsyncIterator[tuple[Program, Browser, Page]]:
    """specctl web, a browser, and a page in it that nothing was opened in yet."""
    async with (
        specctl_web(environ, "web", "--port", "0") as program,
        browsing(folder, *options) as browser,
        browser.page() as page,
    ):
        yield program, browser, page


async def test_the_screen_lives_answers_keys_and_fits_its_window(environ, tmp_path):
    async with opened(environ, tmp_path) as (program, _, page):
        await page.call("Page.addScriptToEvaluateOnNewDocument", source=CLIPBOARD)
        await page.go(program.link)
        first = await page.until(page.lines, numbers)
        assert "SIMULATED" in first
        clock = re.findall(r"\d\d:\d\d:\d\d", first)[0]
        await page.until(page.lines, lambda text: numbers(text) and clock not in text)
        await nothing_is_left(program, page)
        await keys_are_answered(page)
        before = width(await page.lines())
        await page.call("Emulation.setDeviceMetricsOverride", **SMALL)
        await page.until(page.lines, lambda text: 60 < width(text) < before - 20)
        assert (await page.picture()).startswith(b"\x89PNG")
        assert page.logged == [], "no policy is broken, no script fails"
        await it_ends_and_opens_again(program, page)


async def nothing_is_left(program: Program, page: Page) -> None:
    """Of the token; and nothing came from elsewhere."""
    token = program.link.partition("=")[2]
    assert token not in await page.value("location.href + document.referrer")
    history = await page.call("Page.getNavigationHistory")
    assert [entry for entry in history["entries"] if token in entry["url"]] == []
    assert await page.value("document.cookie") == "", "scripts cannot read it"
    assert [url for url in page.asked if not url.startswith(program.origin)] == []
    assert not any(token in line for line in program.said)
    (pid,) = program.children()
    for name in ("cmdline", "environ"):
        assert token.encode() not in Path(f"/proc/{pid}/{name}").read_bytes()


async def keys_are_answered(page: Page) -> None:
    """Also those that mean something to a browser; the guard cannot be lifted."""
    await page.press("Enter")
    await page.until(page.lines, lambda text: "Fleet › lab-1" in text)
    await page.press("y")
    await page.until(lambda: page.value("window.copied || ''"), lambda said: "SIMULATED" in said)
    await page.press("s")
    await page.until(page.lines, lambda text: "web --allow-changes" in text)
    await page.press("p", CTRL)
    await page.until(page.lines, lambda text: "Search for" in text)
    await page.press("Escape")
    await page.until(page.lines, lambda text: "Search for" not in text)


async def it_ends_and_opens_again(program: Program, page: Page) -> None:
    """Its process with it, however it is left."""
    pids = program.children()
    await page.press("q", CTRL)
    await page.until(page.words, lambda text: "The screen has ended" in text)
    await all_gone(pids)
    await page.value("document.querySelector('#again').click()")
    again = await page.until(
        lambda: asyncio.sleep(0, program.children()), lambda one: len(one) == 1
    )
    await page.until(page.lines, lambda text: "lab-1" in text)
    await page.go("about:blank")
    await all_gone(again)


async def test_without_the_token_from_elsewhere_or_by_another_name_it_is_refused(environ, tmp_path):
    rebound = ("--host-resolver-rules=MAP evil.example 127.0.0.1", *WITHOUT_WEBGL)
    async with opened(environ, tmp_path, *rebound) as (program, browser, page):
        for wrong in ("/", "/enter?token=wrong", "/static/textual.js", "/download/key"):
            await page.go(program.origin + wrong)
            assert REFUSED in await page.until(page.words, lambda text: REFUSED in text)
        async with page_elsewhere(f'<iframe src="{program.link}"></iframe>') as elsewhere:
            page.logged.clear()
            await page.go(elsewhere)
            await page.until(
                lambda: asyncio.sleep(0, page.logged), lambda said: "frame" in str(said)
            )
        assert program.children() == []

        evil = program.link.replace("127.0.0.1", "evil.example")
        await page.go(evil)
        await page.until(page.words, lambda text: "by that name" in text)

        link = program.link
        async with page_elsewhere(f'<a id="link" href="{link}">to specctl</a>') as elsewhere:
            await page.go(elsewhere)
            await page.until(lambda: page.value("!!document.querySelector('#link')"), bool)
            await page.value("document.querySelector('#link').click()")
            await page.until(page.lines, lambda text: "lab-1" in text)
        assert not any("inline style" in said for said in page.logged)
        assert await page.value(COLOURS) > 3
        address = await page.value("window.location.href")
        folder = address.rstrip("/").rpartition("/")[2]

        async with browser.page() as other:
            await nothing_is_had_from_elsewhere(program, folder, other)
        await page.go(f"{evil.partition('/enter')[0]}/{folder}/")
        await page.until(page.words, lambda text: "by that name" in text)
        await page.go(link)
        await page.until(page.words, lambda text: "used before" in text)


async def nothing_is_had_from_elsewhere(program: Program, folder: str, page: Page) -> None:
    """Not by a page of another server on this machine, in a browser that has the cookie."""
    names = {"port": program.port, "folder": folder, "link": program.link}
    async with page_elsewhere(ATTACK % names) as elsewhere:
        await page.go(elsewhere)
        results = await page.until(
            lambda: page.value("window.results || {}"), lambda found: len(found) == 3
        )
        assert set(results.values()) == {"refused"}
