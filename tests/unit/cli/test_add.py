from __future__ import annotations

from dataclasses import replace

from specctl.cli.add import _offer_to_adopt
from specctl.cli.invocation import Invocation
from specctl.domain.server import Evidence, Identity, Server, ServerState

FOREIGN = Server(
    "pid-7",
    ServerState.FOREIGN,
    Identity("boot", 7, 42, 7, 7, ""),
    is_ours=False,
    port=30000,
    model="org/model",
    pids=(7, 8),
    evidence=Evidence(process_alive=True),
)
SAID = "specctl: pid 7 serves org/model on port 30000; specctl adopt gpu8 7 puts it under care\n"


def offered(capsys, *servers: Server) -> str:
    _offer_to_adopt(Invocation(), "gpu8", servers, yes=True)
    return str(capsys.readouterr().err)


def test_only_what_can_be_adopted_is_offered(capsys):
    ours = replace(FOREIGN, is_ours=True)
    headless = replace(FOREIGN, pids=(8,), evidence=Evidence(process_alive=False, survivors=1))
    assert offered(capsys, ours, headless, FOREIGN) == SAID


def test_a_port_that_is_not_known_is_left_out(capsys):
    assert offered(capsys, replace(FOREIGN, port=None)) == SAID.replace(" on port 30000", "")
