from __future__ import annotations

import subprocess
import uuid

import pytest

from specctl.facts.terminals import LIST_PANES, pane_at

LISTING = "/dev/pts/3 serve:0.0\n/dev/pts/31 serve:1.0\n/dev/pts/4 a name:0.2\n"


@pytest.mark.parametrize(
    ("terminal", "pane"),
    [
        ("/dev/pts/3", "serve:0.0"),
        ("/dev/pts/31", "serve:1.0"),
        ("/dev/pts/4", "a name:0.2"),
        ("/dev/pts/5", None),
        ("", None),
    ],
)
def test_the_pane_of_a_terminal(terminal, pane):
    assert pane_at(LISTING, terminal) == pane


def test_what_tmux_really_lists():
    name = f"specctl-{uuid.uuid4().hex[:8]}"
    tmux = ["tmux", "-L", name, "-f", "/dev/null"]
    subprocess.run([*tmux, "new-session", "-d", "-s", "serve", "sleep", "60"], check=True)
    try:
        listed = subprocess.run(
            [*tmux, *LIST_PANES[1:]], check=True, capture_output=True, text=True
        ).stdout
        terminal = listed.split(" ")[0]
        assert terminal.startswith("/dev/")
        assert pane_at(listed, terminal) == "serve:0.0"
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)
