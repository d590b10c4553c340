"""A link is good once, for a time, and buys one cookie."""

from __future__ import annotations

from specctl.domain.web.door import LINK_S, VISITORS_MOST, Door


def test_a_link_lets_one_browser_in_and_no_second():
    door = Door().with_link("token", 0.0)
    door, words = door.admit("token", "first", 1.0)
    assert words == ""
    assert door.knows("first")
    again, words = door.admit("token", "second", 2.0)
    assert "used before" in words
    assert not again.knows("second")
    assert again.knows("first")


def test_a_wrong_token_does_not_use_the_link_up():
    door = Door().with_link("token", 0.0)
    for wrong in ("", "toke", "token2", "TOKEN", "\udcff"):
        door, words = door.admit(wrong, "cookie", 1.0)
        assert "not good" in words
    assert not door.knows("cookie")
    assert door.admit("token", "cookie", 1.0)[1] == ""


def test_without_a_link_nobody_gets_in():
    assert Door().admit("", "cookie", 0.0)[1] != ""


def test_a_new_link_ends_the_one_before_and_lets_nobody_out():
    door, _ = Door().with_link("one", 0.0).admit("one", "first", 1.0)
    door = door.with_link("two", 2.0).with_link("three", 3.0)
    assert "not good" in door.admit("two", "second", 4.0)[1]
    door, words = door.admit("three", "third", 4.0)
    assert words == ""
    assert door.knows("first")
    assert door.knows("third")


def test_an_old_link_is_not_good():
    door = Door().with_link("token", 0.0)
    door, words = door.admit("token", "cookie", LINK_S + 1)
    assert "60 min" in words
    assert not door.knows("cookie")
    assert "used before" in door.admit("token", "cookie", 1.0)[1]


def test_of_too_many_browsers_the_first_is_out():
    door = Door()
    for n in range(VISITORS_MOST + 1):
        door, _ = door.with_link(f"token {n}", 0.0).admit(f"token {n}", f"cookie {n}", 1.0)
    assert not door.knows("cookie 0")
    assert all(door.knows(f"cookie {n}") for n in range(1, VISITORS_MOST + 1))


def test_neither_token_nor_cookie_is_kept():
    door, _ = Door().with_link("the-token", 0.0).admit("the-token", "the-cookie", 1.0)
    door = door.with_link("next-token", 2.0)
    for secret in ("the-token", "the-cookie", "next-token"):
        assert secret not in repr(door)
