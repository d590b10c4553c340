"""Where the web server listens, and the names it answers to."""

from __future__ import annotations

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.web.address import (
    is_loopback,
    is_name_of,
    read_place,
    split_host,
    tunnel_line,
)

OWN = frozenset({"Bastion", "bastion.example.com"})


@pytest.mark.parametrize(
    ("address", "is_ours"),
    [
        ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True),
        ("0.0.0.0", False), ("::", False), ("192.0.2.1", False), ("::ffff:127.0.0.1", False),
        ("localhost.example.com", False), ("127.0.0.1.example.com", False), ("", False),
    ],
)  # fmt: skip
def test_loopback_is_what_no_other_machine_reaches(address, is_ours):
    assert is_loopback(address) is is_ours


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("localhost", ("localhost", None)), ("LocalHost:8765", ("localhost", 8765)),
        ("127.0.0.1:80", ("127.0.0.1", 80)), ("[::1]:8765", ("::1", 8765)),
        ("[::1]", ("::1", None)),
        ("", None), ("a b", None), ("a:b", None), ("localhost:", None), ("localhost:99999", None),
        ("user@localhost", None), ("localhost/x", None), ("localhost,evil.example", None),
        ("::1", None), ("[evil.example]", None), ("localhost\n", None), ('a"b', None),
    ],
)  # fmt: skip
def test_a_host_header_is_a_name_and_a_port_or_nothing(text, parts):
    assert split_host(text) == parts


@pytest.mark.parametrize(
    ("bind", "name", "is_right"),
    [
        ("127.0.0.1", "localhost", True), ("127.0.0.1", "::1", True),
        ("127.0.0.1", "192.0.2.1", False), ("127.0.0.1", "evil.example", False),
        ("127.0.0.1", "bastion", False), ("127.0.0.1", "localhost.", False),
        ("192.0.2.1", "192.0.2.1", True), ("192.0.2.1", "localhost", False),
        ("0.0.0.0", "192.0.2.77", True), ("0.0.0.0", "bastion", True),
        ("0.0.0.0", "bastion.example.com", True), ("::", "2001:db8::7", True),
        ("0.0.0.0", "evil.example", False), ("2001:DB8::0:7", "2001:db8::7", True),
    ],
)  # fmt: skip
def test_it_answers_to_its_own_names_only(bind, name, is_right):
    assert is_name_of(read_place(bind, OWN), name) is is_right


@pytest.mark.parametrize(
    ("url", "origin", "name"),
    [
        ("https://ops.example.com", "https://ops.example.com", "ops.example.com"),
        ("https://OPS.example.com:443/", "https://ops.example.com", "ops.example.com"),
        ("https://ops.example.com:8443", "https://ops.example.com:8443", "ops.example.com"),
        ("http://[2001:db8::7]:80", "http://[2001:db8::7]", "2001:db8::7"),
    ],
)
def test_a_public_url_adds_its_name_and_its_origin(url, origin, name):
    place = read_place("127.0.0.1", OWN, url)
    assert place.public_origin == origin
    assert is_name_of(place, name)
    assert place.is_encrypted is origin.startswith("https")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ops.example.com", "begins with neither"), ("ftp://a", "begins with neither"),
        ("https://", "no host"), ("https://a:b", "no host"), ("https://[a", "no host"),
        ("https://a:99999", "no host"), ("https://a\nb", "no host"), ("https://a b", "no host"),
        ("https://a/path", "a path, and the page is at /"),
        ("https://op@a", "a user"), ("https://op:hunter2@a", "a user"),
        ("https://a?x=1", "a query"), ("https://a/?", "a query"), ("https://a#top", "a fragment"),
        ("https://op@a/b?c#d", "a user, which the page does not ask for and a path"),
    ],
)  # fmt: skip
def test_a_public_url_is_an_origin_and_nothing_of_it_is_dropped(url, why):
    with pytest.raises(UsageError, match="is no origin") as caught:
        read_place("127.0.0.1", OWN, url)
    assert why in caught.value.message
    assert "hunter2" not in caught.value.message
    assert "https://ops.example.com" in caught.value.hint


def test_names_are_not_bound_to():
    with pytest.raises(UsageError, match="no address"):
        read_place("gpu8.example.com", OWN)


@pytest.mark.parametrize(
    ("bind", "inner"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("localhost", "localhost")]
)
def test_the_tunnel_leads_to_the_same_port(bind, inner):
    assert tunnel_line(bind, 8765) == f"ssh -N -L 8765:{inner}:8765 USER@THIS-MACHINE"
