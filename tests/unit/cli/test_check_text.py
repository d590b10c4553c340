"""Findings as lines, whatever the files of a workspace hold."""

from __future__ import annotations

from specctl.cli.check_text import text_lines
from specctl.domain.lint.finding import Finding, Severity


def test_what_a_file_says_reaches_no_terminal_as_it_is():
    bad = "a\x1b[31m\nb"
    finding = Finding(
        Severity.ERROR, f"arguments.{bad}", bad, bad, file=f"profiles/{bad}.toml", source_line=bad
    )
    lines = list(text_lines([finding]))
    assert not [line for line in lines if "\n" in line or "[31m" in line]
    assert "profiles/a b.toml" in lines[0]
    assert "arguments.a b: a b" in lines[1]
