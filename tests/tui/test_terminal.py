"""The program itself in a real terminal: tmux draws it, and what it drew is read back."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TMUX = shutil.which("tmux")
HOST = 'transport = "local"\npython = "{python}"\nlabels = {{ group = "here" }}\n'
DEADLINE_S = 30.0
FRAMES_S = 1.0
"""Between two samples of a host."""

READ = re.compile(r"[●◉◐◑◌✗?◆·] here +.*(?:CPU \d+%|[▁▂▃▄▅▆▇])")
"""The host's row with a value in it, whatever runs there."""


class Terminal:
    """One tmux server with one pane, of its own."""

    def __init__(
        self, columns: int, rows: int, words: list[str], status: Path, environ: dict[str, str]
    ) -> None:
        self._socket = f"specctl-{uuid.uuid4().hex[:8]}"
        self._status = status
        size = ["-x", str(columns), "-y", str(rows)]
        program = shlex.join([sys.executable, "-m", "specctl", *words])
        # The shell writes how it ended: tmux now and then misses the end of a process.
        script = f"{program}; echo $? >{shlex.quote(str(status))}; exec cat"
        self._run("new-session", "-d", *size, "sh", "-c", script, env=environ)
        self._run("set", "-g", "status", "off")

    def _run(self, *words: str, env: dict[str, str] | None = None) -> str:
        command = [TMUX or "tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout

    def text(self) -> str:
        """What the terminal shows."""
        return self._run("capture-pane", "-p")

    def send(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        self._run("send-keys", *keys)

    def wait_for(self, found: Callable[[str], bool], what: str) -> str:
        """The screen once it is as wanted; fails with what it shows instead."""
        end_s = time.monotonic() + DEADLINE_S
        while time.monotonic() < end_s:
            text = self.text()
            if found(text):
                return text
            time.sleep(0.05)
        pytest.fail(f"{what} was not seen in {DEADLINE_S:.0f} s:\n{self.text()}")

    def exit_status(self) -> int:
        """Of the program, once it has ended."""
        self.wait_for(lambda _: self._status.is_file() and self._status.read_text() != "", "an end")
        return int(self._status.read_text())

    def close(self) -> None:
        """End the tmux server, and with it the program."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("kill-server")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "LC_ALL") if key in os.environ}
    return kept | {
        "HOME": str(home), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PYTHONPATH": os.getcwd(),
    }  # fmt: skip


@pytest.fixture
def terminal(tmp_path: Path, environ: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    if TMUX is None:
        pytest.fail("tmux is missing: apt-get install tmux")
    made: list[Terminal] = []

    def make(*words: str, columns: int = 120, rows: int = 40) -> Terminal:
        status = tmp_path / f"status-{len(made)}"
        made.append(Terminal(columns, rows, list(words), status, environ))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    remotes = tmp_path / "ws" / "remotes"
    remotes.mkdir(parents=True)
    (remotes / "here.toml").write_text(HOST.format(python=sys.executable))
    profiles = tmp_path / "ws" / "profiles"
    profiles.mkdir()
    (profiles / "tiny.toml").write_text('model = "models/tiny"\n')
    return tmp_path / "ws"


def test_it_paints_a_real_host_and_answers_keys(
    terminal: Callable[..., Terminal], workspace: Path
) -> None:
    screen = terminal("-C", str(workspace))
    screen.wait_for(lambda text: "Hosts" in text and "here" in text, "the table")
    screen.wait_for(lambda text: READ.search(text) is not None, "what was read of the host")
    screen.send("Enter")
    screen.wait_for(lambda text: "Fleet › here" in text and "of " in text, "the host")
    screen.send("s")
    screen.wait_for(lambda text: "Start a profile on here" in text and "tiny" in text, "profiles")
    screen.send("Escape")
    screen.wait_for(lambda text: "Start a profile on here" not in text, "the host again")
    screen.send("C-q")
    assert screen.exit_status() == 0
    assert "Traceback" not in screen.text()


def test_the_editor_has_the_terminal_to_itself_and_what_it_wrote_is_checked(
    terminal: Callable[..., Terminal], workspace: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho "EDITING $1"\nread line\necho "$line" >> "$1"\n')
    editor.chmod(0o755)
    environ["VISUAL"] = str(editor)
    screen = terminal("-C", str(workspace))
    screen.wait_for(lambda text: READ.search(text) is not None, "what was read of the host")
    screen.send("P")
    screen.wait_for(lambda text: "tiny.toml" in text and "--model-path" in text, "the command")
    screen.send("e")
    screen.wait_for(lambda text: text.startswith("EDITING"), "the editor")
    time.sleep(3 * FRAMES_S)
    assert "Profiles" not in screen.text(), "frames that come meanwhile are not painted over it"
    screen.send("no_such = 1", "Enter")
    screen.wait_for(lambda text: "no_such = 1" in text and "✗1" in text, "the finding")
    screen.send("C-q")
    assert screen.exit_status() == 0


def test_nothing_heavy_is_imported_before_the_first_paint() -> None:
    heavy = "asyncssh", "httpx", "pydantic", "click", "specctl.services.fleet"
    code = f"import sys, specctl.tui.app; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout == "[]\n"


def test_read_only_is_a_badge_and_refuses(
    terminal: Callable[..., Terminal], workspace: Path
) -> None:
    screen = terminal("-C", str(workspace), "--read-only", columns=80, rows=24)
    screen.wait_for(lambda text: "read-only" in text and READ.search(text) is not None, "the badge")
    screen.send("s")
    screen.wait_for(lambda text: "Start is off" in text, "the refusal")


def test_without_a_workspace_it_offers_to_make_one(
    terminal: Callable[..., Terminal], tmp_path: Path, environ: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    folder = tmp_path / "fresh"
    folder.mkdir()
    monkeypatch.chdir(folder)
    screen = terminal()
    screen.wait_for(lambda text: "No workspace yet" in text, "the first run")
    screen.send("i")
    screen.wait_for(lambda text: "Hosts" in text, "the fleet of the new workspace")
    assert (folder / "remotes").is_dir()
