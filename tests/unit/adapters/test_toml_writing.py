"""TOML text that tomllib reads back as the same values."""

from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from specctl.adapters.toml_writing import to_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS = TEXT | st.integers(-(2**63), 2**63 - 1) | st.booleans() | st.floats(allow_nan=False)
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3), max_leaves=8
)


@given(st.dictionaries(TEXT, VALUES.filter(bool), max_size=5))
def test_what_is_written_is_read_back(values):
    assert tomllib.loads(to_toml(values)) == values


@given(st.lists(TEXT, max_size=3))
def test_comments_stay_comments(comments):
    text = to_toml({"a": 1}, comments=comments)
    assert tomllib.loads(text) == {"a": 1}


def test_layout():
    values = {"model": "m", "none": None, "arguments": {"a b": {"x": [1, True]}}, "empty": {}}
    assert to_toml(values, comments=["one", "two\nthree"], schema="s.json") == (
        "#:schema s.json\n# one\n# two\n# three\n\n"
        'model = "m"\n\n[arguments]\n"a b" = { x = [1, true] }\n'
    )


def test_half_a_surrogate_pair_is_replaced():
    assert tomllib.loads(to_toml({"a": "x\udce9"})) == {"a": "x\ufffd"}
