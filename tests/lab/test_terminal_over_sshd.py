"""A server behind a real sshd, from the screen: start, watch, lose the link, come back, stop."""

from __future__ import annotations

import getpass
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from specctl.lab.shells import environment
from tests.ssh.operator_side import OperatorSide
from tests.ssh.sshd import SshLab, make_key
from tests.tui.terminal import Terminal, terminal_environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.lab.practice import Practice

PROFILE = "lab-baseline"


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[SshLab]:
    made = SshLab(tmp_path / "ssh", make_key(tmp_path / "user"))
    made.folder.mkdir()
    made.config.touch()
    made.known_hosts.touch()
    yield made
    made.stop()


@pytest.fixture
def operator(ssh: SshLab, practice: Practice) -> Iterator[OperatorSide]:
    """Knows one host, which is a practice host as its own sshd shows it, and one profile."""
    made = OperatorSide(ssh)
    made.write_host("gpu", python=str(practice.host().home / "venv/bin/python"))
    shutil.copy(practice.lab.root / f"profiles/{PROFILE}.toml", made.workspace / "profiles")
    yield made
    practice.run("stop", "lab-1", "--yes", "--now")


@pytest.fixture
def screen(operator: OperatorSide, tmp_path: Path) -> Iterator[Terminal]:
    made = Terminal(tmp_path, terminal_environ(operator.home), inside=operator.workspace)
    yield made
    made.close()


def row(text: str) -> str:
    """The line of the host in the table."""
    return next((line for line in text.splitlines() if re.search(r"[▌│] \S gpu ", line)), "")


@pytest.mark.timeout(300)
async def test_from_the_screen_alone(ssh: SshLab, practice: Practice, screen: Terminal) -> None:
    variables = environment(practice.host(), "sshd")
    words = " ".join(f"{n}={v}" for n, v in variables.items() if not n.startswith("SSH_"))
    sshd = await ssh.server("gpu", f"SetEnv {words}", user=getpass.getuser())
    screen.begin([])
    screen.wait_for(lambda text: "no server" in row(text), "a host without a server")
    screen.send("s")
    screen.wait_for(lambda text: "Start a profile on gpu" in text and PROFILE in text)
    screen.send("Enter")
    screen.wait_for(lambda text: "COMMAND" in text and "--model-path" in text, "the plan")
    screen.send("Enter")
    screen.wait_for(lambda text: "The server is fired up" in text and "done" in text, "a start")
    screen.send("Escape")
    shown = screen.wait_for(lambda text: "● gpu" in row(text), "a server that is ready")
    assert PROFILE in row(shown)
    sshd.stop()
    screen.wait_for(lambda text: "◌ gpu" in row(text), "the link is lost")
    sshd.start()
    await sshd.wait_ready()
    shown = screen.wait_for(lambda text: "● gpu" in row(text), "it is back, and so is the server")
    assert PROFILE in row(shown)
    screen.send("x")
    screen.wait_for(lambda text: "prove that it is gone" in text, "the plan")
    screen.send("Right", "Enter")
    screen.wait_for("✓ Gone: ")
    screen.send("C-q")
    assert screen.exit_status() == 0
    assert "Traceback" not in screen.text()
