"""`specctl web` as a process: what it says, refuses, and leaves behind."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import socket
import sys
from contextlib import asynccontextmanager

import aiohttp
import pytest

from specctl.cli import main
from tests.web.program import WITHIN_S, all_gone, specctl_web


@pytest.fixture
def environ(tmp_path):
    (tmp_path / "ws/remotes").mkdir(parents=True)
    (tmp_path / "ws/remotes/here.toml").write_text(
        f'transport = "local"\npython = "{sys.executable}"\n'
    )
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    return kept | {"HOME": str(tmp_path), "SPECCTL_WORKSPACE": str(tmp_path / "ws")}


@asynccontextmanager
async def screen(program):
    """A screen's socket, once something was painted."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
        async with client.get(program.link) as page:
            assert page.status == 200
            inside = page.url
        address = str(inside).replace("http", "ws", 1) + "ws?width=80&height=24"
        async with client.ws_connect(address, headers={"Origin": program.origin}) as ws:
            text = b""
            while b"Hosts" not in text:
                text += (await ws.receive(timeout=WITHIN_S)).data
            yield ws


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
)
async def test_however_it_ends_its_screens_end_too(environ, number, status):
    async with specctl_web(environ, "web", "--port", "0") as program, screen(program):
        await program.until_said("a screen was opened: 1 of 4")
        pids = program.children()
        assert len(pids) == 1
        assert await program.end(number) in {status, 0}
        await all_gone(pids)


async def test_it_says_where_it_is_and_how_to_reach_it(environ):
    async with specctl_web(environ, "web", "--port", "0") as program:
        said = "\n".join(program.said)
        assert f"ssh -N -L {program.port}:127.0.0.1:{program.port}" in said
        assert "read-only; --allow-changes lifts that" in said
        assert "token" not in said
    async with specctl_web(environ, "web", "--port", "0", "--allow-changes") as program:
        assert any("changes allowed" in line for line in program.said)


async def test_enter_makes_a_new_link(environ):
    ours, its = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "specctl", "web", "--port", "0", env=environ,
        stdin=its, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        async with asyncio.timeout(WITHIN_S):
            links = [(await process.stdout.readline()).decode().strip()]
            os.write(ours, b"\n")
            links.append((await process.stdout.readline()).decode().strip())
        async with aiohttp.ClientSession() as client:
            statuses = []
            for link in links:
                async with client.get(link, allow_redirects=False) as answer:
                    statuses.append(answer.status)
    finally:
        process.terminate()
        await process.wait()
        os.close(ours)
        os.close(its)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/enter\?token=[\w-]{43}", links[0])
    assert statuses == [403, 303], "the one before is good no more"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--bind", "0.0.0.0"], "other machines reach 0.0.0.0"),
        (["--bind", "192.0.2.1"], "ssh -N -L 8765:127.0.0.1:8765"),
        (["--bind", "gpu8"], "is no address"),
        (["--public-url", "ops"], "is no origin"),
    ],
)
def test_what_it_does_not_serve(words, said, capfd):
    assert main.run(["web", *words]) in {1, 2}
    assert said in capfd.readouterr().err


def test_read_only_is_not_contradicted(capfd):
    assert main.run(["--read-only", "web", "--allow-changes"]) == 2
    assert "contradict" in capfd.readouterr().err


def test_a_port_that_is_taken_is_said(capfd):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main.run(["web", "--port", str(port)]) == 1
    err = capfd.readouterr().err
    assert f"cannot listen on 127.0.0.1 port {port}" in err
    assert "--port 0" in err


def test_without_its_packages_it_says_what_to_install(monkeypatch, capfd):
    monkeypatch.setattr("specctl.services.web.find_spec", lambda name: None)
    assert main.run(["web"]) == 2
    err = capfd.readouterr().err
    assert "aiohttp, textual-serve" in err
    assert "web" in err
