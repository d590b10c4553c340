"""Watching hosts over real sshd: links that break, and come back."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from specctl.adapters.workspace import Workspace
from specctl.domain.events import HostSampled, LinkChanged, LogRead
from specctl.domain.state import Link, Store
from specctl.services.fleet import open_fleet
from specctl.services.monitor import Monitor
from specctl.services.reading_logs import follow_log, open_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from specctl.domain.events import Event
    from specctl.services.fleet import Fleet
    from tests.ssh.sshd import SshLab


class Heard:
    """Every event so far, and a way to wait for one."""

    def __init__(self, store: Store) -> None:
        self.events: list[Event] = []
        self._news = asyncio.Event()
        store.subscribe(self._hear)

    def _hear(self, event: Event, _state: object) -> None:
        self.events.append(event)
        self._news.set()

    async def until(self, wanted: Callable[[Event], bool], *, after: int = 0) -> int:
        """The place after the first wanted event, waiting for it if need be."""
        place = after
        async with asyncio.timeout(30):
            while True:
                while place < len(self.events):
                    place += 1
                    if wanted(self.events[place - 1]):
                        return place
                self._news.clear()
                await self._news.wait()


def is_link(host: str, link: Link) -> Callable[[Event], bool]:
    return lambda e: isinstance(e, LinkChanged) and e.host == host and e.link == link


def is_sample(host: str) -> Callable[[Event], bool]:
    return lambda e: isinstance(e, HostSampled) and e.host == host


@pytest.fixture
def workspace(lab: SshLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and a home whose ssh configuration is the lab's."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "config").write_text(f"Include {lab.config}\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    (tmp_path / "ws" / "remotes").mkdir(parents=True)
    return tmp_path / "ws"


def write_host(workspace: Path, name: str) -> None:
    text = f'ssh = "{name}"\npython = "{sys.executable}"\n'
    (workspace / "remotes" / f"{name}.toml").write_text(text)


@asynccontextmanager
async def watching(workspace: Path, *names: str):
    store = Store()
    heard = Heard(store)
    async with open_fleet(Workspace(workspace), store) as fleet, asyncio.TaskGroup() as group:
        monitor = Monitor(fleet, interval_s=0.2)
        task = group.create_task(monitor.watch(names))
        try:
            yield fleet, monitor, heard
        finally:
            task.cancel()


async def test_c08_a_cut_link_keeps_the_values_and_comes_back(lab, workspace):
    sshd = await lab.server("gpu")
    write_host(workspace, "gpu")
    async with watching(workspace, "gpu") as (fleet, monitor, heard):
        place = await heard.until(is_sample("gpu"))
        sshd.signal_connections(signal.SIGKILL)
        place = await heard.until(is_link("gpu", Link.LOST), after=place)
        lost = heard.events[place - 1]
        assert isinstance(lost, LinkChanged)
        assert "host gpu" in lost.words
        assert lost.retry_at_s is not None
        assert fleet.store.state.host("gpu").sample is not None
        monitor.read_again("gpu")
        place = await heard.until(is_link("gpu", Link.UP), after=place)
        await heard.until(is_sample("gpu"), after=place)


SERVER = """
import sys, time
for line in sys.stdin:
    print("[2026-01-01 00:00:00] " + line.strip(), file=sys.stderr, flush=True)
"""


class ByHand:
    """A server that somebody else started, whose log says what it is told to."""

    def __init__(self, folder: Path) -> None:
        script = folder / "launch_server.py"
        script.write_text(SERVER)
        argv = [sys.executable, str(script), "--model-path", "tiny", "--device", "cpu"]
        with (folder / "by-hand.log").open("w") as file:
            self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=file, text=True)
        self.name = f"pid-{self.process.pid}"

    def log(self, words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()

    def has_logged(self, words: str) -> Callable[[Event], bool]:
        return lambda event: words in self.lines([event])

    def lines(self, events: Iterable[Event]) -> list[str]:
        logged = [e for e in events if isinstance(e, LogRead) and e.server == self.name]
        return [line.rpartition("] ")[2] for event in logged for line in event.lines]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ByHand]:
    started = ByHand(tmp_path)
    yield started
    started.process.kill()
    started.process.communicate()


async def test_c08_the_log_goes_on_where_the_cut_link_left_it(lab, workspace, server):
    sshd = await lab.server("gpu")
    write_host(workspace, "gpu")
    server.log("before the cut")
    async with watching(workspace, "gpu") as (_, monitor, heard):
        place = await heard.until(server.has_logged("before the cut"))
        sshd.signal_connections(signal.SIGKILL)
        place = await heard.until(is_link("gpu", Link.LOST), after=place)
        server.log("while it was cut")
        monitor.read_again("gpu")
        place = await heard.until(is_link("gpu", Link.UP), after=place)
        server.log("after the cut")
        await heard.until(server.has_logged("after the cut"), after=place)
        said = server.lines(heard.events)
        assert said == ["before the cut", "while it was cut", "after the cut"]


async def test_c08_a_frozen_link_is_noticed(lab, workspace):
    """Nothing arrives and nothing says why, as with an unplugged cable."""
    sshd = await lab.server("gpu", config="  ServerAliveInterval 1\n  ServerAliveCountMax 2\n")
    write_host(workspace, "gpu")
    async with watching(workspace, "gpu") as (_, _, heard):
        place = await heard.until(is_sample("gpu"))
        sshd.signal_connections(signal.SIGSTOP)
        await heard.until(is_link("gpu", Link.LOST), after=place)


async def test_one_lost_host_does_not_touch_the_others(lab, workspace):
    first, _ = await lab.server("one"), await lab.server("two")
    write_host(workspace, "one")
    write_host(workspace, "two")
    async with watching(workspace, "one", "two") as (_, _, heard):
        await heard.until(is_sample("two"))
        place = await heard.until(is_sample("one"))
        first.stop()
        place = await heard.until(is_link("one", Link.LOST), after=place)
        await heard.until(is_sample("two"), after=place)
        assert not any(is_link("two", Link.LOST)(event) for event in heard.events)


async def test_c02_a_changed_key_waits_for_the_user(lab, workspace):
    sshd = await lab.server("gpu")
    lab.known_hosts.write_text("")
    write_host(workspace, "gpu")
    async with watching(workspace, "gpu") as (_, monitor, heard):
        place = await heard.until(is_link("gpu", Link.REFUSED))
        refused = heard.events[place - 1]
        assert isinstance(refused, LinkChanged)
        assert "specctl trust gpu" in refused.hint
        lab.known_hosts.write_text(sshd.known_hosts())
        monitor.read_again("gpu")
        await heard.until(is_sample("gpu"), after=place)


async def test_the_agent_ends_with_the_watching(lab, workspace):
    await lab.server("gpu")
    write_host(workspace, "gpu")
    fleet: Fleet
    async with watching(workspace, "gpu") as (fleet, _, heard):
        await heard.until(is_sample("gpu"))
        pid = (await fleet.connect("gpu")).hello.pid
        assert _lives(pid)
    async with asyncio.timeout(10):
        while _lives(pid):
            await asyncio.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_c08_following_a_log_outlives_a_cut_link(lab, workspace, server):
    sshd = await lab.server("gpu")
    write_host(workspace, "gpu")
    server.log("before the cut")
    said: list[str] = []
    async with open_fleet(Workspace(workspace), Store()) as fleet, asyncio.timeout(30):
        log = await open_log(await fleet.connect("gpu"), server.name, 10)
        lines = follow_log(fleet, log, said.append)
        server.log("on the first link")
        read = [await anext(lines)]
        sshd.signal_connections(signal.SIGKILL)
        server.log("while it was cut")
        read.append(await anext(lines))
        await lines.aclose()
    assert [line.rpartition("] ")[2] for line in (*log.last, *read)] == [
        "before the cut",
        "on the first link",
        "while it was cut",
    ]
    assert "connecting again" in said[0]
