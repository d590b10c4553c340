"""A practice host driven in a real terminal: start, watch, lose the link, come back, stop."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.tui.terminal import Terminal, terminal_environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.lab.practice import Practice


@pytest.fixture
def screen(practice: Practice, tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, terminal_environ(practice.home), inside=practice.home)
    yield made
    made.close()
    practice.run("stop", "lab-1", "--yes", "--now")


def row(text: str) -> str:
    """The line of lab-1 in the table of hosts."""
    return next((line for line in text.splitlines() if re.search(r"[▌│] \S lab-1 ", line)), "")


@pytest.mark.timeout(300)
def test_from_the_screen_alone(practice: Practice, screen: Terminal) -> None:
    screen.begin([])
    screen.wait_for(lambda text: "no server SIMULATED" in row(text), "a host without a server")
    screen.send("s")
    screen.wait_for(lambda text: "Start a profile on lab-1" in text and "lab-baseline" in text)
    screen.send("Enter")
    screen.wait_for(lambda text: "COMMAND" in text and "--model-path" in text, "the plan")
    screen.send("y")
    screen.wait_for("Copied the command")
    screen.wait_for_copy("CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7")
    screen.wait_for_copy("# SIMULATED: lab-1 ")
    screen.send("Enter")
    screen.wait_for(lambda text: "The server is fired up" in text and "done" in text, "a start")
    screen.send("Escape")
    shown = screen.wait_for(lambda text: "ready SIMULATED" in row(text), "a server that is ready")
    assert "lab-baseline" in row(shown)
    with practice.fault("cut-link"):
        screen.wait_for(lambda text: "ready SIMULATED" not in row(text), "the link is lost")
    screen.wait_for(lambda text: "ready SIMULATED" in row(text), "it is back")
    screen.send("x")
    screen.wait_for(lambda text: "STOPS" in text and "prove that it is gone" in text, "the plan")
    screen.send("Enter")  # the default is the safe button
    screen.wait_for(lambda text: "STOPS" not in text, "nothing done")
    assert "ready SIMULATED" in row(screen.text())
    screen.send("x")
    screen.wait_for(lambda text: "prove that it is gone" in text, "the plan")
    screen.send("Right", "Enter")
    screen.wait_for("✓ Gone: ")
    screen.send("C-q")
    assert screen.exit_status() == 0
    assert "Traceback" not in screen.text()


@pytest.mark.timeout(200)
def test_without_a_workspace_the_lab_is_one_key_away(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environ = terminal_environ(home)
    first = Terminal(tmp_path, environ, columns=80, rows=24, inside=home)
    try:
        first.begin([])
        first.wait_for("Try the lab")
        first.send("l")
        first.wait_for("The lab is being brought up")
        first.wait_for(lambda text: "no server SIMULATED" in text, "its host")
        first.wait_for(lambda text: "1 of 13" in text and "f2 hides this" in text, "the guide")
        first.send("q")
        assert first.exit_status() == 0
    finally:
        first.close()
        words = [sys.executable, "-m", "specctl", "lab", "down"]
        subprocess.run(words, check=True, capture_output=True, env=environ)
