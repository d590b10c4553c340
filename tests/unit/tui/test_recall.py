from __future__ import annotations

from specctl.tui.recall import Recall

LINES = ("host lab-1", "theme mono", "start lab-1 baseline", "theme mono")


def test_lines_come_from_the_newest_each_once_and_end():
    recall = Recall(LINES)
    found = [recall.older("") for _ in range(4)]
    assert found == ["theme mono", "start lab-1 baseline", "host lab-1", None]
    found = [recall.newer() for _ in range(4)]
    assert found == ["start lab-1 baseline", "theme mono", "", None]


def test_it_is_on_until_the_line_is_the_users_own_again():
    recall = Recall(LINES)
    seen = [recall.is_on]
    for step in (lambda: recall.older(""), recall.newer, lambda: recall.older(""), recall.stop):
        step()
        seen.append(recall.is_on)
    assert seen == [False, True, False, True, False]


def test_what_was_typed_narrows_and_comes_back():
    recall = Recall(LINES)
    assert [recall.older("lab-1") for _ in range(3)] == ["start lab-1 baseline", "host lab-1", None]
    assert [recall.newer(), recall.newer()] == ["start lab-1 baseline", "lab-1"]


def test_typing_begins_anew():
    recall = Recall(LINES)
    recall.older("")
    recall.stop()
    assert recall.older("mono") == "theme mono"
    assert Recall(()).older("") is None
