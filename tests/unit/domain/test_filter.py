"""The language that chooses hosts: what is read, what is refused with which words, what holds."""

from __future__ import annotations

import math
import re
import string
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.alerts.alert import Alert
from specctl.domain.filter_fields import FIELDS, Subject, chooses, filter_of, values_of
from specctl.domain.filter_terms import OPERATORS, TEXT, completed, find_field, names_of
from specctl.domain.server import ServerState
from specctl.domain.state import HostState, Link
from tests.tui import parts
from tests.unit.domain.alerts.hosts import NOW_S, host, serving, with_gpu

ROOT = Path(__file__).parents[3]
ALERT = Alert("throttle", "", "warning", "GPU 5 is slowed", "", "", NOW_S - 60)
BUSY = host(
    labels={"group": "pcie", "rack": "7", "kind": "Blackwell"},
    alerts=(ALERT, replace(ALERT, rule="lost", severity="error", cleared_at_s=NOW_S)),
    sample=parts.host_sample(
        (parts.gpu(0, utilization_percent=97.0, temperature_c=61.0, throttle=("heat (hw)",)),
         parts.gpu(1, utilization_percent=3.0, temperature_c=88.0))
    ),
)  # fmt: skip


def chosen(text: str, state: HostState = BUSY, name: str = "pro6k-01", age_s: float = 0) -> bool:
    found = filter_of(text)
    assert found.problems == ()
    return chooses(found, Subject(name, state, NOW_S + age_s, {"7c1e": 1.69}))


@pytest.mark.parametrize(
    "text",
    [
        "", "host=pro*", "pro6k", "!l40s", "PRO6K", "host=PRO6K-0?", "gpu.util>90", "gpu.util>=97",
        "gpu.util=97", "gpu.util>90%", "util>90 host=pro*", "!gpu.util<5", "gpu.util!=5",
        "server.state=ready", "state=ready", "state=up", "label=blackwell", "label=rack=7",
        "label.rack=7", "label.RACK=7", "label=rack=*", "group=pcie", "alert=throttle",
        "alert=warning", "alert=any", "!alert=lost", "alert!=error", "profile=kimi*",
        "profile=*eagle3", "algorithm=eagle3", "accept>1.5", "even=1.69", "rate>=60",
        "tok/s>50", "ttft<1000ms", "ttft<500", "queue=0", "gpus=2", "gpu=*PRO*6000*",
        "gpu.temp>85", "gpu.slowed=heat*", "slowed=heat*", "servers=1", "is=ours", "!is=stale",
        "age<1", "kv<2", "gpu.power=124W", "gpu.mem<1", '"rtx pro 6000"', "gpu='*rtx pro 6000*'",
        "cpu<50%", "owner=aw", "version=0.5.*", "!is=read-only", "running>0 queue<1",
    ],
)  # fmt: skip
def test_a_busy_host_is_chosen(text: str):
    assert chosen(text)


@pytest.mark.parametrize(
    "text",
    [
        "host=pro", "l40s", "!pro6k", "gpu.util<5", "gpu.util!=97", "server.state=crashed",
        "label=hopper", "label.rack=8", "label.nothing=7", "alert=lost", "!alert=any", "accept<1.5",
        "profile!=kimi*", "gpu.temp<80", "host=pro* gpu.util<5", "is=idle", "servers>1", "age>1",
    ],
)  # fmt: skip
def test_a_busy_host_is_not_chosen(text: str):
    assert not chosen(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gpu.utl<5", "gpu.utl<5: no field gpu.utl. Nearest: gpu.util"),
        ("hots=pro", "hots=pro: no field hots. Nearest: host"),
        ("xyzzy=3", "xyzzy=3: no field xyzzy"),
        ("gpu.util<", "gpu.util<: gpu.util < what? a number in %"),
        ("accept>", "accept>: accept > what? a number"),
        ("profile=", "profile=: profile = what? a word, * for any"),
        ("gpu.util<low", "gpu.util<low: gpu.util is a number in %, not low"),
        ("ttft<1s", "ttft<1s: ttft is in ms, not 1s"),
        ("queue>3x", "queue>3x: queue is a plain number, not 3x"),
        ("host>pro", "host>pro: host is a word: = or !=, not >"),
        ("state=redy", "state=redy: state is never redy. Nearest: ready"),
        ('profile="kimi', 'profile="kimi: the closing quote is missing'),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str):
    assert [str(problem) for problem in filter_of(text).problems] == [said]


def test_every_problem_is_said_and_the_rest_still_chooses():
    found = filter_of("gpu.utl<5 host=nowhere accept>x")
    assert [problem.term for problem in found.problems] == ["gpu.utl<5", "accept>x"]
    assert not chooses(found, Subject("pro6k-01", BUSY, NOW_S))


UNKNOWN = [
    HostState(),
    serving(accept_length=None, tokens_per_s=None, queued_requests=None, ttft_p50_s=None),
    serving(accept_length=math.nan, tokens_per_s=math.nan),
]


@pytest.mark.parametrize("state", UNKNOWN)
@pytest.mark.parametrize("term", ["accept<9", "accept>=0", "accept=0", "rate<9", "rate>=0"])
def test_of_what_is_not_known_nothing_holds(term: str, state: HostState):
    assert not chosen(term, state)


def test_the_page_on_filters_is_right_about_what_is_not_known():
    page = (ROOT / "docs" / "alerts.md").read_text("utf-8")
    found = re.search(r"Of what is not known (.*?) holds, so (.*?)\sdo\.", page, re.DOTALL)
    assert found is not None
    for holds, words in ((False, found[1]), (True, found[2])):
        terms = re.findall("`(.*?)`", words)
        assert terms
        for state in UNKNOWN:
            assert [chosen(term, state) for term in terms] == [holds] * len(terms)


def test_of_several_values_one_is_enough_and_unequal_is_unequal_to_all():
    assert chosen("gpu.slowed=heat*")
    both = host(servers=(parts.server(), parts.server(name="9d2f", profile="base")))
    assert chosen("profile=base", both)
    assert not chosen("profile!=base", both)
    assert chosen("profile!=other", both)


def test_a_free_word_is_looked_for_as_it_is_written():
    assert chosen("ro6k")
    assert not chosen("pro*")
    assert chosen("host=pro*")


def test_the_highest_of_gpus_is_not_known_while_one_does_not_tell():
    state = with_gpu(utilization_percent=None)
    assert not chosen("gpu.util<5", state)
    assert not chosen("gpu.util>=0", state)
    assert chosen("gpu.util<5", with_gpu(lost=True))


def test_states_of_the_link_are_states():
    lost = HostState(link=Link.LOST)
    assert chosen("state=lost", lost)
    assert chosen("state=stale", age_s=10)
    assert chosen("state=absent", host(servers=()))
    crashed = host(servers=(parts.server(state=ServerState.CRASHED),))
    assert chosen("state=crashed server.state=crashed", crashed)


def test_idle_servers_have_a_rate_of_nothing_and_no_accept_length():
    idle = serving(is_idle=True)
    assert chosen("rate=0 is=idle queue=0", idle)
    assert not chosen("accept>0", idle)


def test_every_field_can_be_read_of_every_host():
    for state in (*UNKNOWN, BUSY):
        found = values_of(Subject("h", state, NOW_S), [*FIELDS, TEXT, "label.rack"])
        assert set(found) == {*FIELDS, TEXT, "label.rack"}
        for values in found.values():
            assert all(isinstance(v, str) or math.isfinite(v) for v in values)


def test_names_are_told_apart():
    names = names_of(FIELDS)
    assert len(names) == len(set(names))
    for name in names:
        field, full = find_field(name, FIELDS)
        assert field is not None
        assert full == field.name


NAMES = st.sampled_from(names_of(FIELDS))
NUMBERS = st.floats(0, 1e6, allow_nan=False).map(lambda number: f"{number:.3f}")
TYPED = st.text(string.printable, max_size=60)
STATES = st.sampled_from([*UNKNOWN, BUSY, HostState(link=Link.LOST), host(servers=())])


@given(TYPED)
def test_whatever_is_typed_is_read_and_asked(text: str):
    found = filter_of(text)
    for state in (HostState(), BUSY):
        chooses(found, Subject("h", state, NOW_S))
    for problem in found.problems:
        assert problem.term in text
        assert problem.message


TERMS = st.one_of(
    st.builds("{}{}{}".format, NAMES, st.sampled_from(OPERATORS), NUMBERS),
    st.sampled_from(["state=ready", "alert=any", "host=pro*", "pro6k", "label=blackwell"]),
)


@given(TERMS, STATES)
def test_a_term_and_its_inverse_part_all_hosts(term: str, state: HostState):
    found, inverse = filter_of(term), filter_of(f"!{term}")
    if not found.problems:
        subject = Subject("pro6k-01", state, NOW_S)
        assert chooses(found, subject) is not chooses(inverse, subject)


@given(st.lists(TERMS, max_size=4), STATES)
def test_terms_are_a_conjunction_in_any_order(terms: list[str], state: HostState):
    subject = Subject("pro6k-01", state, NOW_S)
    each = [chooses(filter_of(term), subject) for term in terms]
    assert chooses(filter_of(" ".join(terms)), subject) is all(each)
    assert chooses(filter_of(" ".join(reversed(terms))), subject) is all(each)


@given(st.sampled_from(["gpu.util", "accept", "rate", "queue", "age", "cpu"]), NUMBERS, STATES)
def test_of_a_single_known_number_one_order_holds(name: str, number: str, state: HostState):
    subject = Subject("h", state, NOW_S)
    holds = [chooses(filter_of(f"{name}{op}{number}"), subject) for op in ("<", ">=", "<=", ">")]
    known = bool(values_of(subject, [name])[name])
    assert holds[0] + holds[1] == known
    assert holds[2] + holds[3] == known


@given(st.sampled_from(names_of(FIELDS)))
def test_a_slip_of_one_letter_names_the_field(name: str):
    if len(name) > 4:
        slip = name[:2] + name[3:]
        found = filter_of(f"{slip}=1").problems
        assert not found or found[0].nearest or find_field(slip, FIELDS)[0]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", ""), ("gpu.u", "gpu.util"), ("host=a !ale", "host=a !alert"), ("al", "al"),
        ("zz", "zz"),
        ("server.s", "server.state"), ("state=re", "state=re"), ("state=rea", "state=ready"),
        ("state!=cra", "state!=crashed"), ("alert=thr", "alert=throttle"), ("gpu.", "gpu."),
    ],
)  # fmt: skip
def test_tab_completes_as_far_as_one_way_leads_on(text: str, after: str):
    assert completed(text, FIELDS) == after
