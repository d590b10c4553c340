"""A probe over real sshd whose link breaks in the middle."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading

import pytest

from specctl.adapters.clock import SystemClock
from specctl.domain.errors import ConnectionLostError
from specctl.domain.events import ProbeFinished
from specctl.domain.probe import Prompt
from specctl.domain.server import Server, ServerState
from specctl.domain.state import Store
from specctl.domain.workload import Workload
from specctl.services.fleet import open_host
from specctl.services.probing import Settings, probe_server
from tests.ssh.sshd import ssh_host
from tests.unit.services.engines import load_engine, own_identity

PROMPTS = tuple(Prompt(text=f"{word} and more of it", max_tokens=8) for word in "abcdefgh")


@pytest.fixture
def engine():
    served = load_engine().Engine(algorithm="NGRAM")
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield served
    served.shutdown()
    served.server_close()


@pytest.fixture
def home(lab, tmp_path, monkeypatch):
    """The operator's, whose ssh configuration is the lab's."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "config").write_text(f"Include {lab.config}\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)


@pytest.mark.usefixtures("home")
async def test_c08_a_probe_whose_link_is_lost_is_void_and_says_when(lab, engine):
    sshd = await lab.server("gpu")
    asked = Settings(Workload("w", PROMPTS, "0" * 64))
    warm_up = 4
    engine.before = lambda n: n == warm_up + 4 and sshd.signal_connections(signal.SIGKILL)
    server = Server(
        "pid-1", ServerState.READY, own_identity(), is_ours=True, port=engine.port, gpus=()
    )
    store, events = Store(), []
    store.subscribe(lambda event, _: events.append(event))
    connection = await open_host(ssh_host("gpu", python=sys.executable))
    try:
        async with asyncio.timeout(30):
            with pytest.raises(ConnectionLostError) as lost:
                await probe_server(connection, server, asked, store=store, clock=SystemClock())
    finally:
        await connection.session.close()
    assert "the probe is void: the link was lost" in lost.value.message
    assert "into measuring, after 3 of 8 requests" in lost.value.message
    assert "The server goes on" in lost.value.hint
    assert not any(isinstance(event, ProbeFinished) for event in events)
