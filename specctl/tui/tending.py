"""What is typed by name alone: a host's key trusted, a server's port, its caches and requests."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.tui.later import Later
from specctl.tui.render.confirm import Question
from specctl.tui.screens.confirm import ConfirmDialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from specctl.adapters.trust import OfferedKey
    from specctl.tui.actions import Target
    from specctl.tui.application import SpecctlApp
    from specctl.tui.render.lines import Line
    from specctl.tui.services import Services


class Tending:
    """Asks first, then does it in a worker of the app."""

    def __init__(self, app: SpecctlApp) -> None:
        self._app = app
        self.forwards: dict[tuple[str, str], asyncio.Event] = {}
        """By host and server: what closes a port that was opened here."""

    def _services(self) -> Services | None:
        if self._app.services is None:
            self._app.tell("Not yet", "The workspace is still being read.", severity="warning")
        return self._app.services

    def _ask(
        self,
        title: str,
        host: str,
        read: Callable[[], Awaitable[Question]],
        work: Callable[[], Coroutine[None, None, None]],
    ) -> None:
        def answered(confirmed: bool | None) -> None:  # noqa: FBT001  Textual calls it so
            if confirmed:
                self._app.run_worker(Later(work), group=f"tend {host}")

        self._app.push_screen(ConfirmDialog(title, read, host=host), answered)

    async def _told(self, title: str, work: Awaitable[str]) -> bool:
        """Wait for the work and say how it ended."""
        try:
            words = await work
        except SpecctlError as error:
            self._app.tell(title, f"{error.message} {error.hint}".strip(), severity="error")
            return False
        self._app.tell(title, words)
        return True

    # ---------------------------------------------------------------- servers

    def do_server_flush(self, target: Target | None = None) -> None:
        """Empty its prefix cache and its n-gram trie."""
        self._tell_server(
            target, "Flush", "Empties its prefix cache and its n-gram trie.",
            lambda services, host, server: services.flush(host, server),
        )  # fmt: skip

    def do_server_abort(self, target: Target | None = None) -> None:
        """End every request it runs or queues."""
        self._tell_server(
            target, "Abort", "Ends every request that it runs or queues, of whomever they are.",
            lambda services, host, server: services.abort(host, server), is_loud=True,
        )  # fmt: skip

    def _tell_server(
        self,
        target: Target | None,
        verb: str,
        words: str,
        tell: Callable[[Services, str, str], Awaitable[str]],
        *,
        is_loud: bool = False,
    ) -> None:
        target, services = target or self._app.target(), self._services()
        if services is None or target.host is None or target.server is None:
            return
        host, server = target.host, target.server.name
        running = self._running(target)
        needs_typed = host if is_loud and running else None
        own = self._app.scene.measuring(host, target.server)
        body: list[Line] = [[(words, "text")], _running_words(running)]
        if own:
            body.insert(1, [("▲ ", "warn"), (f"{own[0].upper()}{own[1:]}.", "text")])

        async def read() -> Question:
            return Question(body, verb, needs_typed)

        async def work() -> None:
            await self._told(f"{verb} {server} on {host}", tell(services, host, server))

        self._ask(f"{verb} {server} on {host}", host, read, work)

    def _running(self, target: Target) -> int | None:
        """Requests that run and wait there; None when that is not known."""
        name = target.server.name if target.server else ""
        sample = target.state.server_samples.get(name)
        if sample is None or sample.running_requests is None:
            return None
        return sample.running_requests + (sample.queued_requests or 0)

    # ---------------------------------------------------------------- forwarding

    def do_host_forward(self, target: Target | None = None) -> None:
        """Open the server's API on a port of this machine; again closes it."""
        target, services = target or self._app.target(), self._services()
        if services is None or target.host is None or target.server is None:
            return
        key = (target.host, target.server.name)
        if key in self.forwards:
            self.forwards.pop(key).set()
            self._app.tell("Closed", f"The port of {key[0]}/{key[1]} is closed again.")
            return
        closed = self.forwards[key] = asyncio.Event()
        self._app.run_worker(Later(self._forward, services, key, closed), group=f"forward {key}")

    async def _forward(
        self, services: Services, key: tuple[str, str], closed: asyncio.Event
    ) -> None:
        try:
            async with services.forward(*key) as (local_port, remote_port):
                url = f"http://127.0.0.1:{local_port}"
                self._app.copy_to_clipboard(url)
                words = f"leads to {key[0]} port {remote_port}; :forward again closes it"
                self._app.tell(f"Copied {url}", words)
                await closed.wait()
        except SpecctlError as error:
            self._app.tell("Forward ended", f"{error.message} {error.hint}", severity="error")
        finally:
            self.forwards.pop(key, None)

    # ---------------------------------------------------------------- trust

    def do_host_trust(self, target: Target | None = None) -> None:
        """Show the key the host offers beside the known ones, and write it when it is agreed to."""
        target, services = target or self._app.target(), self._services()
        if services is None or target.host is None:
            return
        host = target.host
        offered: list[OfferedKey] = []

        async def read() -> Question:
            offered.append(await services.offered_key(host))
            return key_question(offered[-1])

        async def work() -> None:
            if await self._told(f"Trusted {host}", services.trust(offered[-1])):
                await services.read_again(host)

        self._ask(f"The key of {host}", host, read, work)


def _running_words(running: int | None) -> Line:
    if running is None:
        return [("Requests running: ", "dim"), ("not known", "warn")]
    if not running:
        return [("No request is running.", "dim")]
    noun = "request" if running == 1 else "requests"
    return [("▲ ", "warn"), (f"{running} {noun} running or waiting.", "text")]


def key_question(offered: OfferedKey) -> Question:
    """The offered key beside those that are known; a different or revoked one is never written."""
    state = "revoked" if offered.is_revoked else "known" if offered.is_known else "not known"
    body: list[Line] = [
        [(offered.label, "strong"), (f"  {offered.spelled}", "dim")],
        [("offered  ", "dim"), (f"{offered.algorithm} {offered.fingerprint}", "bright")],
        *([("known    ", "dim"), (str(other), "warn")] for other in offered.others),
        [],
        [("Compare the fingerprint with the machine's own.", "text")],
    ]
    off = ""
    if offered.is_revoked:
        off = "Refused: the key is marked as revoked."
    elif offered.is_known:
        off = f"Nothing to do: the key is {state}."
    elif offered.others:
        off = "Refused: another key is trusted for it. Remove that line first."
    return Question(body, "Trust it", off=off)
