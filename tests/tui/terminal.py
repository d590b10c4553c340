"""The program in a real terminal: tmux draws it, and what it drew is read back."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TMUX = shutil.which("tmux")
DEADLINE_S = 40.0
PACKAGE = Path(__file__).parents[2]


class Terminal:
    """One tmux server with one pane, of its own."""

    def __init__(
        self,
        folder: Path,
        environ: dict[str, str],
        *,
        columns: int = 120,
        rows: int = 40,
        inside: Path | None = None,
    ) -> None:
        """Open it with a shell script in it that waits for `begin`."""
        if TMUX is None:
            pytest.fail("tmux is missing: tests/system.sh installs it")
        self._socket = f"specctl-{uuid.uuid4().hex[:8]}"
        self._folder, self._environ, self._inside = folder, environ, inside or folder
        self._size = ["-x", str(columns), "-y", str(rows)]
        self.pid_file, self._status = folder / "pid", folder / "status"

    def begin(self, words: Sequence[str], *, program: Sequence[str] = ("-m", "specctl")) -> None:
        """Run specctl in it; how it ended, and what the terminal is like then, is written down."""
        for file in (self.pid_file, self._status):
            file.unlink(missing_ok=True)
        command = shlex.join([sys.executable, *program, *words])
        # The shell writes how it ended: tmux now and then misses the end of a process.
        script = (
            f"sh -c 'echo $$ >{self.pid_file}; exec \"$@\"' - {command}; status=$?;"
            f"stty -a >{self._folder}/stty; echo BACK; echo $status >{self._status}; exec cat"
        )
        words = ["new-session", "-d", *self._size, "-c", str(self._inside), "sh", "-c", script]
        if self._is_open():
            words = ["respawn-pane", "-k", "-c", str(self._inside), "sh", "-c", script]
        self._run(*words)
        self._run("set", "-g", "status", "off")
        self._run("set", "-s", "set-clipboard", "on")

    def _is_open(self) -> bool:
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("has-session")
            return True
        return False

    def _run(self, *words: str) -> str:
        command = [TMUX or "tmux", "-L", self._socket, "-f", "/dev/null", *words]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env=self._environ
        ).stdout

    def text(self, *, coloured: bool = False) -> str:
        """What the terminal shows; `coloured` with its colours and attributes."""
        return self._run("capture-pane", "-p", *(["-e"] if coloured else []))

    def wait_for_copy(self, words: str) -> None:
        """Wait until what the program last sent to the clipboard (OSC 52) has the words."""
        deadline = time.monotonic() + DEADLINE_S
        while words not in (copied := self._copied()):
            assert time.monotonic() < deadline, f"{words!r} was not copied, but {copied!r}"
            time.sleep(0.05)

    def _copied(self) -> str:
        with contextlib.suppress(subprocess.CalledProcessError):  # nothing was copied yet
            return self._run("show-buffer")
        return ""

    def modes(self) -> str:
        """`0 0 1`: no alternate screen, no mouse reporting, a cursor."""
        return self._run(
            "display", "-p", "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"
        ).strip()

    def line_settings(self) -> set[str]:
        """What `stty` said after the program had ended."""
        return set((self._folder / "stty").read_text().replace(";", " ").split())

    def send(self, *keys: str) -> None:
        """Press keys, as tmux names them."""
        self._run("send-keys", *keys)

    def wait_for(self, found: Callable[[str], object] | str, what: str = "") -> str:
        """The screen once it is as wanted; fails with what it shows instead."""
        end_s = time.monotonic() + DEADLINE_S
        while time.monotonic() < end_s:
            text = self.text()
            if found in text if isinstance(found, str) else found(text):
                return text
            if self._status.exists() and time.monotonic() < end_s - 2:
                end_s = time.monotonic() + 2  # it has ended: this will not come any more
            time.sleep(0.1)
        pytest.fail(f"{what or found} was not seen in {DEADLINE_S:.0f} s:\n{self.text()}")

    def exit_status(self) -> int:
        """Of the program, once it has ended."""
        self.wait_for(lambda _: self._status.is_file() and self._status.read_text(), "an end")
        return int(self._status.read_text())

    def close(self) -> None:
        """End the tmux server, and with it the program."""
        with contextlib.suppress(subprocess.CalledProcessError):
            self._run("kill-server")


def terminal_environ(home: Path, **more: str) -> dict[str, str]:
    """As a login shell in a terminal has it."""
    return {
        "HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8", "PYTHONPATH": str(PACKAGE), **more,
    }  # fmt: skip
