"""The program itself in a real terminal: tmux draws it, and what it drew is read back."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.tui.terminal import Terminal, terminal_environ

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOST = 'transport = "local"\npython = "{python}"\nlabels = {{ group = "here" }}\n'
FRAMES_S = 1.0
"""Between two samples of a host."""

READ = re.compile(r"[●◉◐◑◌✗?◆·] here +.*(?:CPU \d+%|[▁▂▃▄▅▆▇])")
"""The host's row with a value in it, whatever runs there."""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    home = tmp_path / "home"
    home.mkdir()
    return terminal_environ(home)


@pytest.fixture
def terminal(tmp_path: Path, environ: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    made: list[Terminal] = []

    def make(*words: str, columns: int = 120, rows: int = 40) -> Terminal:
        inside = Path.cwd()
        made.append(Terminal(tmp_path, environ, columns=columns, rows=rows, inside=inside))
        made[-1].begin(words)
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


def test_copies_reach_the_clipboard_of_the_terminal(
    terminal: Callable[..., Terminal], workspace: Path
) -> None:
    screen = terminal("-C", str(workspace), columns=80, rows=24)
    screen.wait_for(lambda text: READ.search(text) is not None, "what was read of the host")
    screen.send("y")
    screen.wait_for("Copied panel 1")
    screen.wait_for_copy("here")
    screen.send("P")
    screen.wait_for(lambda text: "Fleet › here › Profiles" in text and "tiny" in text, "profiles")
    screen.send("4")
    screen.wait_for("--model-path")
    screen.send("y")
    screen.wait_for("Copied the command")
    screen.wait_for_copy("--model-path models/tiny")
    screen.send("@")
    screen.wait_for("Fleet › Commands")
    screen.send("g", "w", "y")  # the first one: how the agent was started
    screen.wait_for_copy("python")
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
