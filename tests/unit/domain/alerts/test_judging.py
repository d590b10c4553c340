"""What each rule says of one look at a host."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from specctl.domain.alerts.judging import Says
from specctl.domain.alerts.rules import RULES, Name, Rules, rules_of
from specctl.domain.missing import Missing, Why
from specctl.domain.server import Evidence, ServerState
from specctl.domain.state import HostState, Link
from tests.tui import parts
from tests.unit.domain.alerts.hosts import NOW_S, host, look, said, serving, with_gpu

GIB = parts.GIB


def crashed(**values: Any) -> HostState:
    server = parts.server(
        state=ServerState.CRASHED, evidence=Evidence(first_cause="out of memory"), **values
    )
    return host(servers=(server,))


def test_a_host_in_good_order_clears_every_rule():
    found = {reading.rule: reading.says for reading in look(host())}
    assert found == dict.fromkeys(RULES, Says.CLEAR)


@pytest.mark.parametrize(
    ("state", "name", "words", "value"),
    [
        (
            host(link=Link.LOST, link_words="host h: no answer to 3 keepalives"),
            Name.LOST, "does not answer: no answer to 3 keepalives", "",
        ),
        (host(link=Link.REFUSED, link_words="key changed"), Name.LOST,
         "cannot be used: key changed", ""),
        (crashed(), Name.CRASHED, "kimi-k2.5-eagle3 crashed: out of memory", ""),
        (with_gpu(lost=True), Name.GPU, "GPU 1 lost", ""),
        (serving(accept_length=1.0), Name.COLLAPSED,
         "kimi-k2.5-eagle3: accept length 1.00, drafts are not wired", "1.00"),
        (serving(accept_length=1.5), Name.BREAKEVEN,
         "kimi-k2.5-eagle3: accept length 1.50 is under its break-even 1.69"
         " (trial 5c0f, 1 at a time)", "1.50 < 1.69"),
        (
            with_gpu(throttle=("heat (hw)",), temperature_c=88.0, sm_clock_mhz=1710.0),
            Name.THROTTLE, "GPU 1 slowed by heat (hw)", "88 °C, 1.71 GHz",
        ),
        (
            with_gpu(memory_total_bytes=100 * GIB, memory_used_bytes=99 * GIB),
            Name.MEMORY, "GPU 1 uses 99% of memory", "99.0% > 98%",
        ),
        (serving(queued_requests=40, running_requests=8), Name.QUEUE,
         "kimi-k2.5-eagle3: 40 requests wait beside 8 running", "40 > 16"),
    ],
)  # fmt: skip
def test_what_raises(state: HostState, name: Name, words: str, value: str):
    reading = said(state, name)
    assert (reading.says, reading.words, reading.value) == (Says.RAISE, words, value)
    assert reading.hint


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (HostState(), Name.LOST),
        (host(link=Link.CONNECTING), Name.LOST),
        (host(link=Link.CONNECTING), Name.THROTTLE),
        (host(sample=parts.host_sample((), gpu_missing=Missing(Why.ERROR))), Name.MEMORY),
        (with_gpu(throttle=None), Name.THROTTLE),
        (with_gpu(memory_used_bytes=None), Name.MEMORY),
        (with_gpu(memory_scheme="unified"), Name.MEMORY),
        (serving(accept_length=None), Name.BREAKEVEN),
        (serving(accept_length=math.nan), Name.BREAKEVEN),
        (serving(accept_length=math.nan), Name.COLLAPSED),
        (serving(accept_length=1.0, is_idle=True), Name.COLLAPSED),
        (serving(queued_requests=None), Name.QUEUE),
        (host(servers=(parts.server(profile="another"),)), Name.BREAKEVEN),
        (host(servers=(parts.server(algorithm=None),)), Name.BREAKEVEN),
        (host(servers=(parts.server(state=ServerState.UNKNOWN),)), Name.CRASHED),
        (replace(crashed(), link=Link.LOST), Name.CRASHED),
    ],
)
def test_what_is_not_known_says_nothing(state: HostState, name: Name):
    assert said(state, name).says is Says.UNKNOWN


@pytest.mark.parametrize("name", [Name.THROTTLE, Name.MEMORY, Name.GPU])
def test_an_old_sample_says_nothing_of_now(name: Name):
    hot = with_gpu(throttle=("heat (hw)",), lost=True)
    assert said(hot, name, NOW_S + 5).says is Says.UNKNOWN


def test_an_old_answer_of_a_server_says_nothing_of_now():
    state = host(sample_at_s=NOW_S + 60)
    assert said(state, Name.BREAKEVEN, NOW_S + 60).says is Says.UNKNOWN


def test_a_host_that_says_nothing_is_lost_whatever_its_link_says():
    assert said(host(), Name.LOST, NOW_S + 5).says is Says.UNKNOWN
    reading = said(host(), Name.LOST, NOW_S + 20)
    assert (reading.says, reading.words) == (Says.RAISE, "no sample for 20 s")


def test_an_n_gram_draft_that_accepts_nothing_is_a_measurement():
    server = parts.server(algorithm="NGRAM")
    state = replace(serving(accept_length=1.0), servers=(server,))
    assert said(state, Name.COLLAPSED).says is Says.UNKNOWN
    assert said(state, Name.BREAKEVEN).says is Says.RAISE


@pytest.mark.parametrize(
    ("accept", "says"),
    [(1.68, Says.RAISE), (1.69, Says.NEITHER), (1.73, Says.NEITHER), (1.75, Says.CLEAR)],
)
def test_between_the_thresholds_nothing_is_said(accept: float, says: Says):
    assert said(serving(accept_length=accept), Name.BREAKEVEN).says is says


@pytest.mark.parametrize(("used", "says"), [(99, Says.RAISE), (97, Says.NEITHER), (95, Says.CLEAR)])
def test_memory_between_its_thresholds(used: int, says: Says):
    state = with_gpu(memory_total_bytes=100 * GIB, memory_used_bytes=used * GIB)
    assert said(state, Name.MEMORY).says is says


def test_a_power_cap_is_good_order_unless_a_file_says_otherwise():
    state = with_gpu(throttle=("power cap",))
    assert said(state, Name.THROTTLE).says is Says.CLEAR
    rules = rules_of({"throttle": {"reasons": ["power cap"]}})
    reading = next(r for r in look(state, rules=rules) if r.rule is Name.THROTTLE)
    assert reading.words == "GPU 1 slowed by power cap"


def test_a_rule_that_is_off_is_not_asked():
    rules = rules_of({"memory": {"on": False}, "queue": {"raise_at": 3, "clear_at": None}})
    assert Name.MEMORY not in {r.rule for r in look(host(), rules=rules)}
    assert rules.by_name[Name.QUEUE].raise_at == 3
    assert rules.by_name[Name.QUEUE].clear_at == RULES[Name.QUEUE].clear_at


def test_one_look_waits_for_nothing():
    assert {(r.for_s, r.clear_for_s) for r in Rules().shortest.by_name.values()} == {(0.0, 0.0)}
