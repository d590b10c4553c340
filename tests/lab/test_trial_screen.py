"""A trial begun, followed and looked at again in a real terminal, on a practice host."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING

import pytest

from specctl.lab.up import take_down
from tests.lab.practice import Practice
from tests.tui.terminal import TMUX, Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.timeout(420),
    pytest.mark.skipif(TMUX is None, reason="tmux is not installed"),
]
TRIAL_S = 300.0


@pytest.fixture
def practice(tmp_path: Path) -> Iterator[Practice]:
    made = Practice(tmp_path)
    made.up("--load-factor", "0.1")
    try:
        yield made
    finally:
        take_down(made.lab)


@pytest.fixture
def terminal(practice: Practice, tmp_path: Path) -> Iterator[Terminal]:
    paths = os.pathsep.join(p for p in sys.path if p)
    workspace = tmp_path / "ws"
    workspace.mkdir()
    environment = practice.environment | {
        "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "PYTHONPATH": paths,
        "SPECCTL_WORKSPACE": str(workspace),
    }  # fmt: skip
    made = Terminal(tmp_path, environment)
    made.begin([])
    yield made
    made.close()


def test_a_trial_from_the_keyboard_ends_in_the_verdict_of_the_ledger(
    practice: Practice, terminal: Terminal
) -> None:
    terminal.wait_for(lambda text: re.search(r"lab-1 .*SIMULATED", text) is not None, "the host")
    terminal.wait_for(lambda text: "● live" in text, "a sample")
    terminal.send("c")
    terminal.wait_for(lambda text: "Compare on lab-1" in text, "the profiles")
    terminal.send("-l", "eagle3-trained")
    terminal.send("Enter")
    terminal.wait_for(lambda text: "launches in the order AB BA" in text, "the plan")
    terminal.send(*["Up"] * 4, *["Left"] * 3)  # launches
    terminal.send("Up", "Up", *["Left"] * 5)  # prompts
    terminal.send(*["Down"] * 6)
    terminal.wait_for(lambda text: "each launch: 4 prompts" in text, "the shorter plan")
    terminal.send("Right", "Enter")
    terminal.wait_for(lambda text: "launch 1 of at most 6" in text, "the first launch")
    text = _wait_for_verdict(terminal)
    assert re.search(r"lab-eagle3-trained: 1\.[4-9]\dx faster on these 4 prompts", text), text
    assert "▲ faster" in text
    assert "it pays" in text
    assert "SIMULATED" in text
    terminal.send("T")
    terminal.wait_for(lambda text: re.search(r"▲ faster +lab-1", text) is not None, "the list")
    shown = practice.run("runs", "list", "--kind", "trial")
    assert "faster" in shown.out


def _wait_for_verdict(terminal: Terminal) -> str:
    end_s = time.monotonic() + TRIAL_S
    while time.monotonic() < end_s:
        text = terminal.text()
        if "Verdict" in text:
            return text
        time.sleep(0.5)
    pytest.fail(f"no verdict in {TRIAL_S:.0f} s:\n{terminal.text()}")
