"""A stand-in engine on this machine, and a probe of it."""

from __future__ import annotations

import threading

import pytest

from specctl.domain.server import Server, ServerState
from specctl.services.probing import Settings, probe_server
from tests.unit.services.engines import load_engine, own_identity
from tests.unit.services.probing.workloads import workload


@pytest.fixture
def engine():
    served = load_engine().Engine(algorithm="EAGLE")
    threading.Thread(target=served.serve_forever, daemon=True).start()
    yield served
    served.shutdown()
    served.server_close()


@pytest.fixture
def server(engine):
    return Server(
        "pid-1",
        ServerState.READY,
        own_identity(),
        is_ours=True,
        port=engine.port,
        gpus=(),
        version="0.5.23",
    )


@pytest.fixture
def probe(connection, server, store, clock):
    async def probe_it(chosen=None, *, of=None, **settings):
        return await probe_server(
            connection,
            of or server,
            Settings(chosen or workload(), **settings),
            store=store,
            clock=clock,
        )

    return probe_it
