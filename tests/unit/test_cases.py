"""The table of cases in docs/cases.md names every case, and tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TABLE = TESTS.parent / "docs" / "cases.md"
NUMBERS = {
    "A": (7, 9, 10, 11, 12, 14, 15, 16, 20, 23),
    "B": (1, 3, 4, 5, 7, 10),
    "C": (1, 2, 4, 6, 7, 8, 10, 11, 12, 14),
    "D": (1, 3, 6, 8),
    "E": (2, 3, 5, 6),
}
PROMISED = {f"{kind}{number:02}" for kind, numbers in NUMBERS.items() for number in numbers}


def rows() -> dict[str, list[str]]:
    """Case to the tests its row names."""
    found: dict[str, list[str]] = {}
    for line in TABLE.read_text().splitlines():
        case = re.match(r"\| ([A-E]\d\d) \|", line)
        if case:
            assert case[1] not in found, case[1]
            found[case[1]] = re.findall(r"`(test_\w+)`", line.rpartition(" | ")[2])
    return found


def functions() -> set[str]:
    """The name of every test."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    trees = (ast.parse(path.read_text()) for path in TESTS.rglob("test_*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    return {node.name for node in nodes if isinstance(node, kinds)}


def test_every_case_has_a_row():
    assert PROMISED - rows().keys() == set()


def test_every_row_names_tests_of_its_case_that_exist():
    known = functions()
    for case, names in rows().items():
        assert names, case
        for name in names:
            assert name in known, (case, name)
            assert f"_{case.lower()}_" in name, (case, name)


def test_every_recorded_input_is_of_a_case():
    assert {path.stem for path in (TESTS / "data" / "cases").iterdir()} <= rows().keys()
