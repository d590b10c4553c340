from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.checkpoint.table import (
    TableForm,
    agreement,
    coverage,
    hits_of,
    read_table,
)
from tests.checkpoints import chosen_ids, marks, offsets


def form(d2t, vocabulary=4096, t2d=None):
    return read_table([int(x) for x in d2t], vocabulary, t2d).form


def test_a_table_of_sorted_ids_is_read_as_offsets():
    table = read_table(offsets(chosen_ids()).tolist(), 4096)
    assert table.form is TableForm.OFFSETS
    assert list(table.intended.ids) == chosen_ids().tolist()
    assert table.intended.is_proper


def test_absolute_ids_are_known_by_what_lies_beyond_the_vocabulary():
    ids = chosen_ids()
    assert ids[-1] + len(ids) > 4096
    assert form(ids) is TableForm.ABSOLUTE
    assert list(read_table(ids.tolist(), 4096).intended.ids) == ids.tolist()


def test_absolute_ids_within_range_are_told_by_the_other_table():
    ids = np.arange(0, 1024, 2)
    assert form(ids) is TableForm.EITHER
    assert form(ids, t2d=marks(ids).tobytes()) is TableForm.ABSOLUTE
    meant = ids + np.arange(len(ids))
    assert form(ids, t2d=marks(meant).tobytes()) is TableForm.OFFSETS


def test_zeros_are_a_table_only_where_nothing_is_left_out():
    assert form([0] * 512) is TableForm.UNFILLED
    assert form([0] * 512, 512) is TableForm.OFFSETS
    assert form([0] * 512, None) is TableForm.OFFSETS


def test_an_unsorted_table_is_offsets_all_the_same():
    ids = chosen_ids()
    np.random.default_rng(1).shuffle(ids)
    table = read_table(offsets(ids).tolist(), 4096)
    assert table.form is TableForm.OFFSETS
    assert table.intended.falls > 100


@pytest.mark.parametrize("wrong", [[5, 5, 0], [-1, 0, 5000]])
def test_neither(wrong):
    table = read_table([*wrong, *offsets(chosen_ids()).tolist(), 4090], 4096)
    assert table.form is TableForm.NEITHER


@given(st.sets(st.integers(0, 9999), min_size=2, max_size=300))
def test_any_choice_of_tokens_comes_back_whole(chosen):
    ids = np.array(sorted(chosen))
    table = read_table(offsets(ids).tolist(), 10_000, marks(ids, 10_000).tobytes())
    if not offsets(ids).any():
        assert table.form is TableForm.UNFILLED
        return
    assert list(table.as_offsets.ids) == sorted(chosen)
    assert table.form is not TableForm.NEITHER
    assert hits_of(table.intended.ids, marks(ids, 10_000).tobytes()) == len(chosen)


def test_positions_agree_in_252_of_32000_though_most_tokens_are_shared():
    """Sorted tables shift after the first token that only one of them has."""
    first = np.arange(32_000) * 4
    second = first.copy()
    second[252:] += 4
    second[-1] = 32_001 * 4
    found = agreement(first.tolist(), second.tolist())
    assert (found.positions, found.of) == (252, 32_000)
    assert found.shared == 31_999
    assert (found.only_draft, found.only_other) == (1, 1)
    assert found.overlap == pytest.approx(31_999 / 32_000)


def test_agreement_of_tables_of_other_sizes_and_of_nothing():
    found = agreement([1, 2, 3], [1, 2])
    assert (found.positions, found.of, found.shared, found.overlap) == (2, 2, 2, 1.0)
    assert agreement([], [1]).overlap is None


def test_coverage_counts_tokens_as_often_as_they_were_said():
    found = coverage({1: 90, 2: 5, 3: 4, 4: 1}, [1, 4])
    assert found.share == pytest.approx(0.91)
    assert (found.covered_distinct, found.distinct) == (2, 4)
    assert found.most_left_out == ((2, 5), (3, 4))
    assert coverage({}, [1]).share is None
