"""Who is let through: each wrong header is refused on each route."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.web.access import Request, Route, refusal
from specctl.domain.web.address import read_place
from specctl.domain.web.door import Door

PLACE = read_place("127.0.0.1", frozenset())
PROXIED = read_place("127.0.0.1", frozenset(), "https://ops.example.com")
DOOR, _ = Door().with_link("token", 0.0).admit("token", "cookie", 1.0)
HOST, ORIGIN = "localhost:8765", "http://localhost:8765"
EVERY = list(Route)
BEHIND_THE_DOOR = [route for route in Route if route is not Route.ENTRY]


def right(route, **changed):
    return replace(Request(route, (HOST,), (ORIGIN,), "same-origin", cookie="cookie"), **changed)


@pytest.mark.parametrize("route", EVERY)
def test_the_page_itself_is_let_through(route):
    assert refusal(right(route), PLACE, DOOR) == ""


@pytest.mark.parametrize("route", EVERY)
@pytest.mark.parametrize(
    "hosts", [(), ("evil.example:8765",), (HOST, HOST), (HOST, "evil.example"), ("a b",), ("",)]
)
def test_a_wrong_host_is_refused(route, hosts):
    assert "by that name" in refusal(right(route, hosts=hosts), PLACE, DOOR)


@pytest.mark.parametrize("route", EVERY)
@pytest.mark.parametrize(
    "origins",
    [
        ("http://evil.example",), ("null",), ("",), ("http://localhost:3000",), ("http://localhost",),
        ("https://localhost:8765",), ("http://127.0.0.1:8765",), (ORIGIN, ORIGIN),
        (f"{ORIGIN}.evil.example",), ("http://localhost:8765/",),
    ],
)  # fmt: skip
def test_a_foreign_origin_is_refused(route, origins):
    assert "another server" in refusal(right(route, origins=origins), PLACE, DOOR)


def test_a_socket_needs_an_origin():
    assert "Origin is missing" in refusal(right(Route.SOCKET, origins=()), PLACE, DOOR)


@pytest.mark.parametrize("route", [Route.FILE, Route.SOCKET])
@pytest.mark.parametrize("site", ["cross-site", "same-site", "Cross-Site", "odd"])
def test_what_the_browser_says_comes_from_elsewhere_is_refused(route, site):
    assert "another server" in refusal(right(route, fetch_site=site), PLACE, DOOR)


@pytest.mark.parametrize("route", [Route.ENTRY, Route.PAGE])
def test_links_of_other_pages_may_lead_here(route):
    followed = right(route, origins=(), fetch_site="cross-site")
    assert refusal(followed, PLACE, DOOR) == ""


@pytest.mark.parametrize("purpose", ["prefetch", "prefetch;prerender", "preview"])
def test_a_link_is_not_used_up_by_a_browser_that_looks_ahead(purpose):
    assert "as a page" in refusal(right(Route.ENTRY, purpose=purpose), PLACE, DOOR)


@pytest.mark.parametrize("destination", ["iframe", "image", "script", "empty", "object"])
def test_a_link_is_not_used_up_inside_another_page(destination):
    assert "as a page" in refusal(right(Route.ENTRY, destination=destination), PLACE, DOOR)
    assert refusal(right(Route.ENTRY, destination="document"), PLACE, DOOR) == ""


@pytest.mark.parametrize("route", BEHIND_THE_DOOR)
@pytest.mark.parametrize("cookie", ["", "cooki", "cookie ", "token"])
def test_a_wrong_cookie_is_refused(route, cookie):
    assert "not let in" in refusal(right(route, cookie=cookie), PLACE, DOOR)


@pytest.mark.parametrize("route", BEHIND_THE_DOOR)
def test_before_anybody_was_let_in_every_cookie_is_wrong(route):
    assert "not let in" in refusal(right(route), PLACE, Door())


def test_behind_a_proxy_its_origin_is_right_whatever_host_it_passes_on():
    for host in ("ops.example.com", HOST):
        asked = right(Route.SOCKET, hosts=(host,), origins=("https://ops.example.com",))
        assert refusal(asked, PROXIED, DOOR) == ""
    asked = right(Route.SOCKET, origins=("https://other.example.com",))
    assert "another server" in refusal(asked, PROXIED, DOOR)
