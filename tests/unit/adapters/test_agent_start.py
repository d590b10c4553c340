"""The first message of an agent, as a host that is broken or hostile sends it."""

from __future__ import annotations

import json

import pytest

from specctl.adapters.agent_start import PROTOCOL, read_hello
from specctl.domain.errors import AgentError

HELLO = {
    "protocol": PROTOCOL, "python": "3.11", "executable": "/usr/bin/python3", "pid": 4, "uid": 0,
    "hostname": "h", "time": 1.0,
}  # fmt: skip


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[" * 100_000,
        json.dumps(HELLO).replace("4", "1e400"),
        json.dumps({**HELLO, "pid": None}),
    ],
)
def test_a_damaged_one_is_said_to_be_one(raw):
    with pytest.raises(AgentError, match="host gpu8: the agent's first message is damaged"):
        read_hello("gpu8", raw.encode())


def test_a_whole_one_is_read():
    assert read_hello("gpu8", json.dumps(HELLO).encode()).pid == 4
