from __future__ import annotations

from dataclasses import replace

from specctl.domain.source_difference import Change, compare_trees
from tests.unit.cli.source_examples import ALGORITHM, NEWER, TREE


def test_the_same_tree_in_two_places_is_the_same():
    assert compare_trees(TREE, replace(TREE, path="/other", commit=None)).is_empty


def test_names_that_one_has_and_aspects_that_changed():
    found = compare_trees(TREE, NEWER)
    assert (found.algorithms.added, found.algorithms.removed) == (("DFLASH",), ())
    assert found.algorithms.changed == (Change("NGRAM", "files", "2", "1"),)
    assert found.flags.removed == ("--speculative-ngram-max-bfs-breadth",)
    (choices,) = found.flags.changed
    assert (choices.aspect, choices.after) == ("choices", "none")
    assert [change.aspect for change in found.files.changed] == ["digest"]


def test_of_lists_only_what_differs_is_said():
    newer = replace(TREE, flags=(replace(ALGORITHM, choices=("EAGLE", "NGRAM", "UNO")),))
    (change,) = compare_trees(TREE, newer).flags.changed
    assert (change.before, change.after) == ("EAGLE3, NEXTN, STANDALONE", "UNO")
    turned = replace(
        TREE, flags=(replace(ALGORITHM, choices=tuple(reversed(ALGORITHM.choices or ()))),)
    )
    (change,) = compare_trees(TREE, turned).flags.changed
    assert change.before.startswith("EAGLE, EAGLE3")
