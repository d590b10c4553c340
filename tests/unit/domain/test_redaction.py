"""Whatever is known to name somebody is gone, the same name has one placeholder, the rest stays."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specctl.domain.redaction import LINE_CELLS, OPEN_WORDS, Names, Redactor

NAMES = Names(
    hosts=frozenset({"gpu8", "bastion.corp.example", "gpu8-b", "(odd)"}),
    users=frozenset({"ada"}),
    paths=frozenset({"/srv/team/ops"}),
    homes=frozenset({"/home/ada"}),
    secrets=frozenset({"s3cr3t-value", "short"}),
)
NAME = st.text("abcdefghijklmnopqrstuvwxyzABC0123456789-_.", min_size=3, max_size=12).filter(
    lambda word: word[0].isalnum() and word[-1].isalnum() and word.lower() not in OPEN_WORDS
)
AROUND = st.sampled_from(
    [" ", ":", "/", "@", "'", '"', "(", ")", "=", ",", "\t", "[bold]", "\x1b[31m"]
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("gpu8: refused", "<host-1>: refused"),
        ("GPU8 and gpu8-b and gpu8", "<host-1> and <host-2> and <host-1>"),
        ("gpu80 is another word", "gpu80 is another word"),
        ("ada@gpu8:/home/ada/x", "<user-1>@<host-1>:<home>/x"),
        ("/home/bob/.ssh", "/home/<user-1>/.ssh"),
        ("/Users/bob/x", "/Users/<user-1>/x"),
        ("in /srv/team/ops/remotes", "in <path-1>/remotes"),
        ("key s3cr3t-value.", "key <secret-1>."),
        ("a short word", "a short word"),
        ("10.1.2.3:22 and 10.1.2.3", "<address-1>:22 and <address-1>"),
        ("fe80::1%eth0", "<address-1>%eth0"),
        ("2001:db8::7 and [2001:db8::7]:22", "<address-1> and [<address-1>]:22"),
        ("127.0.0.1, ::1 and 0.0.0.0", "127.0.0.1, ::1 and 0.0.0.0"),
        ("at 12:34:56 and 2026-01-02T03:04:05", "at 12:34:56 and 2026-01-02T03:04:05"),
        ("version 0.5.23, driver 575.57.08", "version 0.5.23, driver 575.57.08"),
        ("Linux-6.18.44-fc-v669", "Linux-6.18.44-fc-v669"),
        ("aw@laptop", "<user-1>@<host-1>"),
        ("https://u:pw@git.x.example/a", "https://<secret-1>@<host-1>/a"),
        ("http://localhost:30000/health", "http://localhost:30000/health"),
        ("http://10.9.8.7:30000", "http://<address-1>:30000"),
        ("jump.prod.internal said no", "<host-1> said no"),
        ("sglang.srt.managers.scheduler", "sglang.srt.managers.scheduler"),
        ("GPU-5f3c1a2b-0000-1111-2222-333344445555", "<hardware-1>"),
        ("00:1a:2b:3c:4d:5e", "<hardware-1>"),
        ("SHA256:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", "<key-1>"),
        ("it is (odd) there", "it is <host-1> there"),
        ("<host-1> stays", "<host-1> stays"),
        ("\x1b]0;gpu8\x07\x1b[31mred", "red"),
    ],
)
def test_what_becomes_a_placeholder(text, shown):
    assert Redactor(NAMES).line(text) == shown


@given(st.sets(NAME, min_size=1, max_size=5), st.data())
def test_no_known_name_is_left_as_a_word_and_each_has_one_placeholder(words, data):
    redactor = Redactor(Names(hosts=frozenset(words)))
    parts = data.draw(st.lists(st.tuples(AROUND, st.sampled_from(sorted(words))), max_size=8))
    shown = redactor.line("".join(around + word for around, word in parts))
    left = re.sub(r"<[a-z]+-\d+>", " ", shown)
    for word in words:
        assert not re.search(
            rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])", left, re.IGNORECASE
        )
    given_out = [mark for known in redactor.seen.values() for mark in known.values()]
    assert len(given_out) == len(set(given_out))


@given(NAME, NAME)
def test_one_name_has_one_placeholder_in_every_line(first, second):
    assume(first.lower() != second.lower())
    redactor = Redactor(Names(hosts=frozenset({first, second})))
    one, other = redactor.line(first), redactor.line(second)
    assert one != other
    assert redactor.line(f"({second.upper()}) [{first}]") == f"({other}) [{one}]"


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6))
def test_no_address_is_left(address):
    shown = Redactor(Names()).line(f"to {address} port 22")
    is_open = address.is_loopback or address.is_unspecified
    assert (str(address) in shown.split()) is is_open


@given(st.text("abc <>.,;()[]/-_", max_size=60))
def test_what_names_nobody_stays_as_it_was(text):
    assume("home/" not in text.lower())
    assert Redactor(Names()).line(text) == text


@given(st.text())
def test_any_text_becomes_one_line_that_is_safe_and_stays_as_it_is(text):
    redactor = Redactor(NAMES)
    once = redactor.line(text)
    assert "\x1b" not in once
    assert "\n" not in once
    assert redactor.line(once) == once


@pytest.mark.parametrize(
    "piece", ["a", ":", "1.", "a@", "ab:", "a.b-", "://", "/home/", "GPU-", "<"]
)
def test_a_line_of_a_megabyte_takes_no_time(piece):
    begun_s = time.process_time()
    shown = Redactor(NAMES).line(piece * (1_000_000 // len(piece)))
    assert len(shown) <= LINE_CELLS * 14
    assert time.process_time() - begun_s < 5
