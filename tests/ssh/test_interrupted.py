"""Commands that are told to end, or lose their terminal: what they began is finished or undone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.ssh.operator_side import OperatorSide


@pytest.fixture
def operator(lab) -> OperatorSide:
    return OperatorSide(lab)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_every_way_to_be_told_ends_a_command_alike(lab, operator, number):
    await lab.server("gpu")
    operator.write_host("gpu")
    process = subprocess.Popen(
        [sys.executable, "-m", "specctl", "watch", "gpu", "--interval", "0.2"],
        cwd=operator.workspace,
        env={"HOME": str(operator.home), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # nohup's choice is inherited
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    began_s = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert time.monotonic() - began_s < 10
    assert "Traceback" not in err
    assert process.returncode == (0 if number == signal.SIGINT else 130)
