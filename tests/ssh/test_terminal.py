"""A host behind a real sshd, watched in a real terminal: its link is lost and comes back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.ssh.operator_side import OperatorSide
from tests.tui.terminal import Terminal, terminal_environ

if TYPE_CHECKING:
    from collections.abc import Iterator

READ = re.compile(r"[●◉◐◑◌✗?◆·] gpu +.*(?:CPU \d+%|[▁▂▃▄▅▆▇])")


@pytest.fixture
def operator(lab) -> OperatorSide:
    return OperatorSide(lab)


@pytest.fixture
def screen(operator, tmp_path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, terminal_environ(operator.home), inside=operator.workspace)
    yield made
    made.close()


@pytest.mark.timeout(200)
async def test_a_lost_link_is_told_and_comes_back_by_itself(lab, operator, screen):
    server = await lab.server("gpu")
    operator.write_host("gpu")
    screen.begin([])
    screen.wait_for(lambda text: READ.search(text), "what was read of the host")
    server.stop()
    screen.wait_for("does not answer")
    server.start()
    await server.wait_ready()
    screen.send("r")
    screen.wait_for(lambda text: READ.search(text) and "does not answer" not in text, "it is back")
    screen.send("C-q")
    assert screen.exit_status() == 0
    assert "Traceback" not in screen.text()
