"""Debian's Chromium: a page as it ends up, or a page that is driven, over its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import itertools
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
DISPLAYED = (*QUIET[1:], "--remote-debugging-port=0")
"""In a window of its own, and asked what it shows."""

WITHIN_S = 60.0
CODES = {"Enter": 13, "Escape": 27}
CTRL = 2

SPY = """
Object.defineProperty(Object.prototype, "terminal", { configurable: true, set(value) {
  if (value && value.buffer && value.cols) window.specctlTerminal = value;
  Object.defineProperty(this, "terminal", { value, writable: true, configurable: true });
} });
"""
"""textual.js keeps its terminal to itself, and paints it on a canvas: this gives its lines away."""

LINES = """
(() => {
  const t = window.specctlTerminal;
  if (!t) return "";
  const lines = [];
  for (let i = 0; i < t.rows; i++) {
    lines.push(t.buffer.active.getLine(i).translateToString(false).slice(0, t.cols).trimEnd());
  }
  return lines.join("\\n");
})()
"""


async def eventually(
    find: Callable[[], Any], is_right: Callable[[Any], object], logged: Sequence[str] = ()
) -> Any:
    """What `find` gives once it is right; fails with what it gave instead."""
    found: Any = None
    try:
        async with asyncio.timeout(WITHIN_S):
            while not is_right(found := await find()):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"not seen in {WITHIN_S:.0f} s:\n{found}\n{logged}") from None
    return found


def dumped(folder: Path, address: str) -> str:
    """The page at `address` as the browser has it once its scripts, if any, have run."""
    argv = ["chromium", *QUIET, f"--user-data-dir={folder}/profile", "--virtual-time-budget=2000",
            "--dump-dom", address]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, timeout=50, check=True)
    return done.stdout


class Page:
    """One tab."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket, self._ids = socket, itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.logged: list[str] = []
        """What the browser itself complained about: policy, network, scripts."""

        self.asked: list[str] = []
        """Every address that the page asked for."""

    async def listen(self) -> None:
        """Sort what the browser says into answers and complaints."""
        async for said in self._socket:
            message = said.json()
            if "id" in message:
                answer = self._answers.pop(message["id"], None)
                if answer is not None:
                    answer.set_result(message)
            elif message["method"] == "Log.entryAdded":
                self.logged.append(message["params"]["entry"]["text"])
            elif message["method"] == "Network.requestWillBeSent":
                self.asked.append(message["params"]["request"]["url"])
            elif message["method"] == "Runtime.exceptionThrown":
                self.logged.append(str(message["params"]["exceptionDetails"]))
            elif message["method"] == "Page.javascriptDialogOpening":
                await self.send("Page.handleJavaScriptDialog", accept=True)

    async def send(self, method: str, **params: Any) -> None:
        """Without waiting for what comes of it."""
        await self._socket.send_json({"id": -next(self._ids), "method": method, "params": params})

    async def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What comes of it."""
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        message = await asyncio.wait_for(answer, WITHIN_S)
        assert "error" not in message, (method, message["error"])
        result: dict[str, Any] = message["result"]
        return result

    async def value(self, script: str) -> Any:
        """Of an expression; a promise is waited for."""
        done = await self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    async def go(self, address: str) -> None:
        """Open an address, as if typed."""
        await self.call("Page.navigate", url=address)

    async def lines(self) -> str:
        """What the terminal in the page shows."""
        return str(await self.value(LINES))

    async def words(self) -> str:
        """What the page says, without the terminal."""
        return str(await self.value("document.body ? document.body.innerText : ''"))

    async def until(self, find: Callable[[], Any], is_right: Callable[[Any], object]) -> Any:
        """What `find` gives once it is right; fails with what it gave instead."""
        return await eventually(find, is_right, self.logged)

    async def press(self, key: str, modifiers: int = 0) -> None:
        """A key goes down and up, as the browser's window would say it."""
        code = CODES.get(key) or ord(key.upper())
        typed = "\r" if key == "Enter" else key if len(key) == 1 and not modifiers else ""
        said = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code}
        down = "keyDown" if typed else "rawKeyDown"
        await self.call("Input.dispatchKeyEvent", type=down, text=typed, **said)
        await self.call("Input.dispatchKeyEvent", type="keyUp", **said)

    async def picture(self) -> bytes:
        """PNG."""
        shot = await self.call("Page.captureScreenshot")
        return base64.b64decode(shot["data"])


class Browser:
    """A running Chromium with a profile of its own."""

    def __init__(self, client: aiohttp.ClientSession, port: int) -> None:
        self._client, self._address = client, f"http://127.0.0.1:{port}"

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """A new tab while the block runs."""
        async with self._client.put(f"{self._address}/json/new?about:blank") as answer:
            made = await answer.json()
        url = made["webSocketDebuggerUrl"]
        async with self._client.ws_connect(url, max_msg_size=0) as socket:
            page = Page(socket)
            async with asyncio.TaskGroup() as group:
                listening = group.create_task(page.listen())
                for domain in ("Page", "Log", "Runtime", "Network"):
                    await page.call(f"{domain}.enable")
                await page.call("Page.addScriptToEvaluateOnNewDocument", source=SPY)
                yield page
                await self._client.get(f"{self._address}/json/close/{made['id']}")
                listening.cancel()


@asynccontextmanager
async def browsing(folder: Path, *options: str) -> AsyncIterator[Browser]:
    """Chromium while the block runs."""
    profile = folder / "profile"
    argv = [
        *QUIET, *options, "--enable-unsafe-swiftshader", f"--user-data-dir={profile}",
        "--remote-debugging-port=0", "--window-size=1200,800", "about:blank",
    ]  # fmt: skip
    process = await asyncio.create_subprocess_exec(
        "chromium", *argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        async with aiohttp.ClientSession() as client:
            yield Browser(client, await debugging_port(profile, process))
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def debugging_port(profile: Path, process: asyncio.subprocess.Process | None = None) -> int:
    """Where a browser is asked, once it has written that down in its profile."""
    said = profile / "DevToolsActivePort"
    async with asyncio.timeout(WITHIN_S):
        while not (said.is_file() and said.read_text().strip()):
            assert process is None or process.returncode is None, "chromium ended"
            await asyncio.sleep(0.05)
    return int(said.read_text().splitlines()[0])
