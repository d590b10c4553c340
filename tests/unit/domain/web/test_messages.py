"""What a browser says is a terminal's, or nothing."""

from __future__ import annotations

import json

import pytest

from specctl.domain.web.frames import ABOUT, DATA, HEAD_BYTES, about, frame, read_head
from specctl.domain.web.messages import Focused, Pinged, Size, Typed, read_message, read_size


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (["stdin", "j"], Typed(b"j")),
        (["stdin", "\x1b[A–"], Typed("\x1b[A–".encode())),
        (["resize", {"width": 120, "height": 40}], Size(120, 40)),
        (["resize", {"width": 10**9, "height": -5}], Size(500, 5)),
        (["ping", "1764554400000"], Pinged("1764554400000")),
        (["focus"], Focused(is_focused=True)),
        (["blur"], Focused(is_focused=False)),
    ],
)
def test_a_terminal_is_understood(said, meant):
    assert read_message(json.dumps(said)) == meant


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "null", "[]", '"stdin"', '["stdin"]', '["stdin", 1]', '["stdin", "a", "b"]',
        '["stdin", "\\ud800"]', '["resize", {}]', '["resize", {"width": "x", "height": 1}]',
        '["resize", {"width": true, "height": 1}]', '["resize", {"width": NaN, "height": 24}]',
        '["resize", {"width": null, "height": 24}]', '["quit"]', '["exec", "id"]',
        f'["ping", "{"1" * 33}"]', '{"stdin": "a"}',
    ],
)  # fmt: skip
def test_everything_else_is_nothing(text):
    assert read_message(text) is None


def test_neither_is_what_is_nested_too_deep():
    assert read_message("[" * 60_000) is None


@pytest.mark.parametrize(
    ("columns", "rows", "size"),
    [("80", "24", Size()), ("1", "1", Size(20, 5)), (None, "24", None), ("8e1", "24", None),
     ("9" * 5000, "24", None)],
)  # fmt: skip
def test_a_size_is_within_bounds(columns, rows, size):
    assert read_size(columns, rows) == size


def test_a_frame_says_its_kind_and_its_length():
    assert frame(DATA, b"abc") == b"D\x00\x00\x00\x03abc"
    made = about({"type": "quit"})
    assert read_head(made[:HEAD_BYTES]) == (ABOUT, len(made) - HEAD_BYTES)
    assert json.loads(made[HEAD_BYTES:]) == {"type": "quit"}
    assert read_head(b"D\xff\xff\xff\xff") is None
