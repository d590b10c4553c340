"""Which front end a command line opens."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from specctl import __main__ as entry


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], (None, False)),
        (["-C", "dir"], ("dir", False)),
        (["--workspace=dir", "--read-only"], ("dir", True)),
        (["--read-only", "--workspace", "dir"], ("dir", True)),
        (["check"], None),
        (["-C", "dir", "check"], None),
        (["-C"], None),
        (["--help"], None),
    ],
)
def test_the_screen_opens_when_no_command_is_named(monkeypatch, words, expected):
    screen = ModuleType("specctl.tui.app")
    screen.run_tui = lambda *, workspace, read_only: (workspace, read_only)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "specctl.tui.app", screen)
    monkeypatch.setattr("specctl.cli.main.run", lambda _words: None)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert entry.main(words) == expected
