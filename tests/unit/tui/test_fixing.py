"""Applying a finding's other spelling to one line of a profile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.lint.finding import Finding, Severity
from specctl.tui.fixing import fixed_text

TEXT = """[speculation]
algorithm = "NGRAM"
ngram-max-bfs-breath = 20  # ngram-max-bfs-breath-x stays
[arguments]
"tp-sise" = 8
"""
BREADTH = Finding(
    Severity.ERROR, "speculation.ngram-max-bfs-breath", "no such flag", line=3,
    nearest="speculative-ngram-max-bfs-breadth",
)  # fmt: skip


def test_the_key_is_spelled_as_the_build_knows_it() -> None:
    after = fixed_text(TEXT, BREADTH)

    assert after == TEXT.replace("ngram-max-bfs-breath =", "ngram-max-bfs-breadth =")


@pytest.mark.parametrize("nearest", ["--tp-size", "tp-size"])
def test_a_quoted_key_too(nearest: str) -> None:
    finding = Finding(Severity.ERROR, "arguments.tp-sise", "", line=5, nearest=nearest)

    assert fixed_text(TEXT, finding) == TEXT.replace("tp-sise", "tp-size")


@pytest.mark.parametrize(
    "changes",
    [
        {"nearest": ""},
        {"line": None},
        {"line": 99},
        {"line": 2},
        {"key": ""},
        {"nearest": "speculative-ngram-max-bfs-breath"},
    ],
)
def test_what_is_not_sure_is_left_alone(changes: dict[str, object]) -> None:
    assert fixed_text(TEXT, replace(BREADTH, **changes)) is None  # type: ignore[arg-type]


def test_a_key_that_stands_twice_in_its_line_is_left_alone() -> None:
    finding = Finding(Severity.ERROR, "arguments.a", "", line=1, nearest="b")

    assert fixed_text("a = 1 # a\n", finding) is None
