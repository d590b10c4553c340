from __future__ import annotations

import ast

import pytest

from specctl.facts.source.constants import Scope, UnresolvedError, value_of
from tests.unit.facts.source.small import texts


def value(expression: str, **files: str):
    found = texts(**{"srt/a.py": "", **{f"srt/{name}.py": text for name, text in files.items()}})
    return value_of(ast.parse(expression, mode="eval").body, Scope(found, "srt/a.py"))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("10 * 1000 * 1000", 10_000_000),
        ("-1", -1),
        ("1 << 20", 1 << 20),
        ("2 ** 10", 1024),
        ("not True", False),
        ("'a' + 'b'", "ab"),
        ("['a'] + ['b', *('c', 'd')]", ["a", "b", "c", "d"]),
        ("list({'x': int, 'y': str}.keys())", ["x", "y"]),
        ("sorted(set(['b', 'a']))", ["b", "a"]),
        ("[n.upper() for n in ['a', 'b']]", ["A", "B"]),
        ("1 if True else 2", 1),
    ],
)
def test_what_can_be_worked_out(expression, expected):
    assert value(expression) == expected


@pytest.mark.parametrize(
    "expression",
    [
        "unknown", "f(1)", "10 ** 10 ** 10", "1 << 999999", "'a' * 10**9", "[0] * 10**9", "1 / 0",
        "{**x}", "a.b.c", "[y for y in x]", "lambda: 1", "'a' - 1", "9" * 30 + " * " + "9" * 30,
    ],
)  # fmt: skip
def test_what_cannot_is_said_and_costs_nothing(expression):
    with pytest.raises(UnresolvedError):
        value(expression)


def test_names_are_followed_through_modules_stars_and_classes():
    files = {
        "a": "from sglang.srt.b import *\nfrom .c import Mode as M\nOWN = SHARED + [M.FAST.value]",
        "b": "try:\n    import x\nexcept ImportError:\n    SHARED = ['s']\n",
        "c": "class Mode(StrEnum):\n    FAST = 'fast'\n    SLOW = 'slow'\n    _x = 1\n",
    }
    assert value("OWN", **files) == ["s", "fast"]
    assert value("[m.value for m in M]", **files) == ["fast", "slow"]


def test_names_that_go_round_come_to_an_end():
    with pytest.raises(UnresolvedError):
        value("ONE", a="ONE = TWO\nTWO = ONE\n")
    with pytest.raises(UnresolvedError):
        value("X", a="from sglang.srt.b import X\n", b="from sglang.srt.a import X\n")
