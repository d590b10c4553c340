from __future__ import annotations

import pytest

from specctl.facts.repeats import collapse
from tests.unit.facts.captures import case


def test_a20_the_noise_after_a_crash_is_told_once():
    lines = case("A20").split("\n")
    head, noise = lines[:6], lines[6:11]
    assert collapse([*head, *noise[1:] * 200]) == [
        *head,
        *noise[1:],
        "(the 4 lines above: 199 times more)",
    ]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ([], []),
        (["a", "b"], ["a", "b"]),
        (["a", "a"], ["a", "a"]),
        (["a"] * 3 + ["b"], ["a", "(the line above: 2 times more)", "b"]),
        (
            [f"[2026-01-01 00:00:0{n} TP{n}] Received sigquit" for n in range(4)],
            ["[2026-01-01 00:00:00 TP0] Received sigquit", "(the line above: 3 times more)"],
        ),
        (["a", "b"] * 3 + ["a"], ["a", "b", "(the 2 lines above: 2 times more)", "a"]),
    ],
)
def test_blocks_that_repeat_are_shown_once(lines, shown):
    assert collapse(lines) == shown
