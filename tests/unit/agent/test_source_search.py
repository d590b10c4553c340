"""Searching a tree, with patterns that never end too."""

from __future__ import annotations

import os
import threading
import time

import pytest

from specctl.agent.protocol import OpError
from specctl.agent.source_search import search
from specctl.facts.source import wanted


@pytest.fixture
def root(tmp_path):
    (tmp_path / "srt").mkdir()
    (tmp_path / "srt/a.py").write_text("one\nclass Worker:\n    x = 'Worker'\n")
    (tmp_path / "srt/b.cpp").write_text("// worker\r\nint x;\n")
    (tmp_path / "srt/c.bin").write_bytes(b"Worker")
    (tmp_path / "srt/bad.py").write_text("a" * 40 + "!\n")
    return tmp_path


def run(root, pattern, cancelled=None, **params):
    asked = {"listed": wanted.LISTED, "not_entered": wanted.NOT_ENTERED, "root": str(root)}
    stream = search({**asked, "pattern": pattern, **params}, cancelled or threading.Event())
    found: list[tuple[str, int, str]] = []
    while True:
        try:
            item = next(stream)
        except StopIteration as stop:
            return found, stop.value
        found.append((item["file"], item["line"], item["text"]))


def children():
    with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
        return file.read().split()


def test_lines_that_match_with_their_numbers(root):
    found, end = run(root, r"class \w+")
    assert found == [("srt/a.py", 2, "class Worker:")]
    assert (end["files"], end["truncated"]) == (3, None)
    found, _ = run(root, "WORKER", ignore_case=True)
    assert [(file, line) for file, line, _ in found] == [
        ("srt/a.py", 2), ("srt/a.py", 3), ("srt/b.cpp", 1),
    ]  # fmt: skip
    assert found[-1][2] == "// worker"


def test_enough_is_enough(root):
    found, end = run(root, ".", matches_max=2)
    assert len(found) == 2
    assert end["truncated"] == "matches"


@pytest.mark.parametrize("pattern", ["[", "(", "a{2,1}", "(?P<x>a)(?P<x>b)", "(" * 5000])
def test_no_pattern_is_said(root, pattern):
    with pytest.raises(OpError) as caught:
        run(root, pattern)
    assert caught.value.kind == "bad_request"


def test_a_pattern_that_never_ends_is_ended_and_says_where(root):
    before, began_s = children(), time.monotonic()
    _, end = run(root, "(a|a|aa)+$", seconds_max=1.0)
    assert time.monotonic() - began_s < 10
    assert (end["truncated"], end["at"]) == ("time", "srt/bad.py")
    assert children() == before


def test_a_search_that_is_left_ends_its_child(root):
    before = children()
    cancelled = threading.Event()
    threading.Timer(0.5, cancelled.set).start()
    _, end = run(root, "(a|a|aa)+$", cancelled, seconds_max=60.0)
    assert end["truncated"] == "cancelled"
    assert children() == before
