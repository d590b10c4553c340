"""A compiled file that is cut short, as by a full disk, and what else ends too early."""

from __future__ import annotations

import importlib
import sys

import click
import pytest

from specctl.cli import main
from specctl.domain.errors import UsageError


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A module whose compiled file is cut short."""
    source = tmp_path / "cut_short_module.py"
    source.write_text("value = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    importlib.import_module(source.stem)
    del sys.modules[source.stem]
    (compiled,) = (tmp_path / "__pycache__").iterdir()
    compiled.write_bytes(compiled.read_bytes()[:20])
    return source.stem, compiled


def command_that(monkeypatch, act):
    """`schema` does this instead."""
    monkeypatch.setattr(main.Commands, "get_command", lambda *_: click.command()(act))


def test_a_compiled_file_that_is_cut_short_is_named(broken, monkeypatch, capsys):
    module, compiled = broken
    command_that(monkeypatch, lambda: importlib.import_module(module))
    assert main.run(["schema"]) == 1
    assert capsys.readouterr().err.strip() == (
        f"specctl: error: {compiled} cannot be read: marshal data too short\n"
        "hint: Remove it: Python compiles its source again."
    )
    compiled.unlink()
    assert main.run(["schema"]) == 0


def test_another_early_end_is_a_bug_and_no_interruption(monkeypatch):
    def act():
        raise EOFError("of a file")

    command_that(monkeypatch, act)
    with pytest.raises(EOFError, match="of a file"):
        main.run(["schema"])


def test_an_early_end_that_was_told_already_is_told_so(monkeypatch, capsys):
    def act():
        raise UsageError("the bundle is cut short") from EOFError("of a file")

    command_that(monkeypatch, act)
    assert main.run(["schema"]) == 2
    assert capsys.readouterr().err == "specctl: error: the bundle is cut short\n"


def test_ctrl_d_at_a_question_interrupts(monkeypatch, capsys):
    monkeypatch.setattr("click.termui.visible_prompt_func", lambda _text: input())
    monkeypatch.setattr("sys.stdin", open("/dev/null", encoding="utf-8"))  # noqa: SIM115
    command_that(monkeypatch, lambda: click.confirm("Go ahead?", err=True))
    assert main.run(["schema"]) == 130
    assert capsys.readouterr().err.endswith("specctl: interrupted\n")
