"""Imports by lines are those by the syntax tree, on every file of every release that counts."""

from __future__ import annotations

import ast

import pytest

from specctl.facts.source.imports import imports_in, imports_of_lines
from tests.trees.releases import ERAS, VERSIONS, release

FOLDERS = ("srt/speculative", "kernels/ops/speculative", "srt/arg_groups")
EVERY = [
    pytest.param(version, marks=() if version in ERAS else (pytest.mark.trees,))
    for version in VERSIONS
]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", EVERY)
def test_both_ways_find_the_same(version):
    package = release(version) / "sglang"
    for folder in FOLDERS:
        for path in (package / folder).rglob("*.py"):
            text, file = path.read_text(), path.relative_to(package).as_posix()
            by_lines = {n for n in imports_of_lines(text, file) if n.startswith("sglang")}
            by_tree = {n for n in imports_in(ast.parse(text), file) if n.startswith("sglang")}
            assert by_lines == by_tree, file
