"""Agreement with what SGLang 0.5.23's own argument resolution said of several hundred lines."""

from __future__ import annotations

import pytest

from specctl.domain.lint.build import Build
from specctl.domain.lint.engine import lint_argv
from tests.unit.domain.lint.oracle import (
    DISAGREEMENTS,
    OTHER_VALUES,
    WITHOUT_A_TREE,
    differences,
    is_refused,
    rows,
)

BUILD = Build("0.5.23", is_assumed=False)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.id)
def test_without_a_tree(row):
    linted = lint_argv(row.argv, BUILD, row.around, row.env)
    is_exception = row.id in WITHOUT_A_TREE or row.id in DISAGREEMENTS
    assert (is_refused(linted) is not row.is_accepted) is not is_exception
    if row.is_accepted:
        assert bool(differences(row, linted)) is (row.id in OTHER_VALUES)


def test_what_a_launch_showed_is_foreseen():
    """Lines that resolve and then die, or serve, in a real launch on the CPU."""
    launched = [(row, row.launch["start"]) for row in rows() if row.launch is not None]
    assert len(launched) == 20
    for row, start in launched:
        linted = lint_argv(row.argv, BUILD, row.around, row.env)
        if row.id not in WITHOUT_A_TREE:
            assert linted.is_refused is not (start == "up"), row.id


def test_the_exceptions_are_few():
    assert len(DISAGREEMENTS) + len(OTHER_VALUES) <= 3
    assert len(WITHOUT_A_TREE) <= 8
