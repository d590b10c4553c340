"""Outputs as they are kept."""

from __future__ import annotations

import zlib
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.kept_output import (
    CHARACTERS_MOST,
    TOKENS_MOST,
    UNPACKED_BYTES_MOST,
    Output,
    pack_output,
    token_parting,
    unpack_output,
)

_HUGE = b64encode(zlib.compress(b'"' + b"x" * UNPACKED_BYTES_MOST + b'"')).decode()


@given(st.lists(st.integers(0, 2**31)), st.text())
def test_what_is_packed_comes_back(ids, text):
    assert unpack_output(pack_output(ids, text)) == Output(tuple(ids), text)


def test_only_the_beginning_is_kept():
    found = unpack_output(pack_output(range(TOKENS_MOST + 5), "x" * (CHARACTERS_MOST + 5)))
    assert found is not None
    assert len(found.ids or ()) == TOKENS_MOST
    assert len(found.text or "") == CHARACTERS_MOST


def test_nothing_is_nothing():
    assert pack_output(None, None) is None
    assert unpack_output(None) is None


@pytest.mark.parametrize(
    "packed",
    [
        "é",
        "!",
        "",
        b64encode(b"no zlib").decode(),
        b64encode(zlib.compress(b"[1]")).decode(),
        _HUGE,
    ],
    ids=["no base64", "no letters", "empty", "no zlib", "no object", "too long"],
)
def test_what_cannot_be_read_is_unknown(packed):
    assert unpack_output(packed) is None


def test_the_same_does_not_part():
    assert token_parting(Output((1, 2), None), Output((1, 2), None)) is None
    assert token_parting(Output((1, 2), None), Output(None, None)) is None
