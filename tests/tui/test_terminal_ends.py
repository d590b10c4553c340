"""However the screen ends, the terminal is as it was; one that cannot draw is told so."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.tui.terminal import DEADLINE_S, Terminal, terminal_environ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CRASHING = """
import sys
from specctl.tui.application import SpecctlApp
def on_key(self, event):
    raise RuntimeError("on purpose")
SpecctlApp.on_key = on_key
from specctl.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
COLOURED = re.compile(r"\x1b\[(?:[\d:]+;)*(?:[34][0-8]|9[0-7]|10[0-7])[;:\dm]")
"""A sequence that sets a colour, of 8, 16, 256 or all; 39 and 49 are the terminal's own."""

pytestmark = pytest.mark.timeout(200)
AS_BEFORE = "0 0 1"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    remotes = tmp_path / "ws/remotes"
    remotes.mkdir(parents=True)
    (remotes / "here.toml").write_text(f'transport = "local"\npython = "{sys.executable}"\n')
    return tmp_path / "ws"


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def make(*, columns: int = 100, rows: int = 30, **environ: str) -> Terminal:
        environ = terminal_environ(tmp_path, **environ)
        made.append(Terminal(tmp_path, environ, columns=columns, rows=rows))
        return made[-1]

    yield make
    for one in made:
        one.close()


def opened(screen: Terminal) -> int:
    """The process, once the table is drawn and keys are read."""
    screen.wait_for(lambda text: "Hosts" in text and "here" in text, "the table")
    assert screen.modes() != AS_BEFORE
    return int(screen.pid_file.read_text())


def assert_restored(screen: Terminal) -> None:
    screen.wait_for("BACK")
    assert screen.modes() == AS_BEFORE
    assert {"icanon", "echo", "isig"} <= screen.line_settings()


def test_the_terminal_is_as_it_was_however_the_screen_ends(
    terminal: Callable[..., Terminal], workspace: Path
) -> None:
    screen = terminal()
    words = ["-C", str(workspace)]
    for number in (signal.SIGTERM, signal.SIGHUP):
        screen.begin(words)
        os.kill(opened(screen), number)
        assert screen.exit_status() == 130, number
        assert_restored(screen)
        assert "Traceback" not in screen.text()
    screen.begin(words, program=("-c", CRASHING))
    opened(screen)
    screen.send("j")
    assert screen.exit_status() == 1
    assert_restored(screen)
    assert "on purpose" in screen.text()


@pytest.mark.parametrize("is_told_to_go_on", [False, True])
def test_it_ends_with_its_terminal(
    terminal: Callable[..., Terminal], workspace: Path, is_told_to_go_on: bool
) -> None:
    """At a hangup the system tells it to go on, too: then Textual starts a second time."""
    screen = terminal()
    screen.begin(["-C", str(workspace)])
    pid = opened(screen)
    if is_told_to_go_on:
        os.kill(pid, signal.SIGCONT)
        time.sleep(0.3)
    screen.close()
    end_s = time.monotonic() + DEADLINE_S
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < end_s:
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pid}")


def test_ctrl_c_says_how_to_quit_and_without_colours_80x24_holds_it_all(
    terminal: Callable[..., Terminal], workspace: Path
) -> None:
    screen = terminal(columns=80, rows=24, NO_COLOR="1")
    screen.begin(["-C", str(workspace)])
    opened(screen)
    shown = screen.wait_for("? help")
    assert all(len(line) <= 80 for line in shown.splitlines())
    drawn = screen.text(coloured=True)
    assert COLOURED.search(drawn) is None
    assert re.search(r"\x1b\[(?:0;)?1m", drawn), "bold stands for what colours say elsewhere"
    screen.send("C-c")
    screen.wait_for(lambda text: "ctrl+q" in text.lower(), "how to quit")
    screen.send("C-q")
    assert screen.exit_status() == 0
    assert_restored(screen)


def test_a_terminal_that_cannot_draw_is_told_what_to_do(
    terminal: Callable[..., Terminal], workspace: Path
) -> None:
    screen = terminal()
    screen.begin(["-C", str(workspace)], program=("-c", DUMB))  # tmux sets TERM itself
    assert screen.exit_status() == 2
    shown = screen.text()
    assert "TERM is dumb" in shown
    assert "specctl status" in shown
    assert "Hosts" not in shown


DUMB = """
import os, sys
os.environ["TERM"] = "dumb"
from specctl.__main__ import main
sys.exit(main(sys.argv[1:]))
"""
