"""Alerts over time: raised and cleared once each, never by what is not known."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.alerts.alert import MOST_CLEARED, Alert, fold
from specctl.domain.alerts.judging import Look, Reading, Says
from specctl.domain.alerts.rules import RULES, Name, Rules, Severity, rules_of
from specctl.domain.alerts.watching import Track, Watched, advance, watch
from specctl.domain.events import AlertsChanged
from specctl.domain.server import Evidence, ServerState
from tests.tui import parts
from tests.unit.domain.alerts.hosts import EVENS, NOW_S, host, serving, with_gpu

RULE = replace(RULES[Name.THROTTLE], for_s=3.0, clear_for_s=10.0)


def run(says: list[Says], step_s: float = 1.0) -> list[bool]:
    """Whether the alert is open after each reading."""
    track, out = Track(), []
    for n, one in enumerate(says):
        track = advance(track, RULE, Reading(Name.THROTTLE, one), n * step_s)
        out.append(track.is_open)
    return out


def test_it_is_raised_after_it_held_and_cleared_after_it_did_not():
    found = run([Says.RAISE] * 5 + [Says.CLEAR] * 12)
    assert found == [False, False, False, True, True] + [True] * 10 + [False] * 2


def test_a_flicker_raises_nothing():
    assert not any(run([Says.RAISE, Says.RAISE, Says.CLEAR] * 20))
    assert not any(run([Says.RAISE, Says.RAISE, Says.NEITHER] * 20))


def test_between_the_thresholds_an_open_alert_stays():
    assert all(run([Says.RAISE] * 4 + [Says.NEITHER] * 100)[3:])


def test_what_is_not_known_stops_the_count_and_keeps_it():
    assert run([Says.RAISE, Says.RAISE, Says.UNKNOWN, Says.UNKNOWN, Says.RAISE, Says.RAISE]) == (
        [False] * 6
    )
    assert run([Says.RAISE] * 3 + [Says.UNKNOWN] * 50 + [Says.RAISE] * 2)[-1]


ALL = st.lists(st.sampled_from(list(Says)), max_size=80)


@given(ALL)
def test_unknown_never_changes_whether_it_is_open(says: list[Says]):
    is_open = run(says)
    for n in range(1, len(says)):
        if says[n] is Says.UNKNOWN:
            assert is_open[n] == is_open[n - 1]


@given(ALL)
def test_it_opens_only_on_raise_and_closes_only_on_clear(says: list[Says]):
    before = False
    for one, now in zip(says, run(says), strict=True):
        if now and not before:
            assert one is Says.RAISE
        if before and not now:
            assert one is Says.CLEAR
        before = now


@given(st.lists(st.sampled_from([Says.RAISE, Says.UNKNOWN]), max_size=80))
def test_without_three_known_seconds_of_it_nothing_is_raised(says: list[Says]):
    known_s = sum(a is b is Says.RAISE for a, b in itertools.pairwise(says))
    assert any(run(says)) == (known_s >= 3)


def follow(states, rules: Rules | None = None, step_s: float = 1.0):
    """Every change of alerts while a host is looked at once a step."""
    watched, out = Watched(), []
    for n, state in enumerate(states):
        at_s = NOW_S + n * step_s
        samples = {k: replace(s, time_s=at_s) for k, s in state.server_samples.items()}
        state = replace(state, sample_at_s=at_s, server_samples=samples)
        watched, changes = watch(watched, Look("h", state, at_s, evens=EVENS), rules or Rules())
        out += changes
    return out


def test_an_alert_says_what_it_is_and_goes_with_the_words_it_came_with():
    hot = with_gpu(throttle=("heat (hw)",), temperature_c=88.0, sm_clock_mhz=1710.0)
    raised, cleared = follow([hot] * 5 + [host()] * 15)
    assert raised.is_open
    assert raised.time_s == NOW_S + 3
    assert (raised.rule, raised.severity, raised.server) == ("throttle", "warning", "")
    assert (raised.words, raised.value) == ("GPU 1 slowed by heat (hw)", "88 °C, 1.71 GHz")
    assert not cleared.is_open
    assert cleared.words == raised.words


def test_one_more_gpu_is_said_once():
    one = with_gpu(throttle=("heat (hw)",))
    both = replace(
        one, sample=parts.host_sample(tuple(parts.gpu(n, throttle=("heat (hw)",)) for n in (0, 1)))
    )
    words = [change.words for change in follow([one] * 5 + [both] * 5 + [one] * 5 + [both] * 5)]
    assert words == ["GPU 1 slowed by heat (hw)", "GPUs 0-1 slowed by heat (hw)"]


def test_a_queue_that_is_long_and_becomes_no_longer_raises_nothing():
    assert follow([serving(queued_requests=20)] * 100) == []
    grows = [serving(queued_requests=20 + n) for n in range(40)]
    assert [change.rule for change in follow(grows)] == ["queue"]


def test_a_server_that_is_gone_takes_its_alerts_with_it():
    low = [serving(accept_length=1.5)] * 20
    found = follow([*low, host(servers=None)])
    assert [change.is_open for change in found] == [True]
    assert found[0].server == "7c1e"
    found = follow([*low, host(servers=(), server_samples={})])
    assert [change.is_open for change in found] == [True, False]


def test_of_a_server_that_is_measured_no_break_even_is_said():
    low, watched, out = serving(accept_length=1.5), Watched(), []
    measured = [()] * 20 + [("7c1e",)] * 20 + [()] * 20
    for n, names in enumerate(measured):
        at_s = NOW_S + n
        samples = {k: replace(s, time_s=at_s) for k, s in low.server_samples.items()}
        state = replace(low, sample_at_s=at_s, server_samples=samples)
        found = Look("h", state, at_s, evens=EVENS, measured=names)
        watched, changes = watch(watched, found, Rules())
        out += [(change.time_s - NOW_S, change.is_open) for change in changes]
    assert out == [(15, True), (20, False), (55, True)]


def test_a_slow_link_is_told_and_what_is_not_timed_says_nothing():
    slow, quick, between = (host(round_trip_s=s) for s in (0.9, 0.02, 0.3))
    found = follow([slow] * 25 + [host(round_trip_s=None)] * 60 + [between] * 60 + [quick] * 30)
    assert [(c.rule, c.time_s - NOW_S, c.is_open) for c in found] == [
        ("slow-link", 20, True),
        ("slow-link", 165, False),
    ]
    assert (found[0].words, found[0].value) == ("slow link: 900 ms to h and back", "900 > 400 ms")
    assert follow([slow] * 15 + [quick] * 60) == []


def test_a_crash_is_told_again_once_its_cause_is_known():
    def crashed(cause: str):
        ended = replace(
            parts.server(), state=ServerState.CRASHED, evidence=Evidence(first_cause=cause)
        )
        return host(servers=(ended,), server_samples={})

    early, late = crashed("its log is not read yet"), crashed("CUDA out of memory")
    found = follow([early] * 3 + [late] * 5)
    assert [c.words.partition(": ")[2] for c in found] == [
        "its log is not read yet",
        "CUDA out of memory",
    ]
    assert [c.is_open for c in found] == [True, True]


def test_a_collapse_is_told_beside_the_break_even():
    found = follow([serving(accept_length=1.0)] * 20)
    assert [(c.rule, c.severity) for c in found] == [
        ("collapsed", Severity.ERROR),
        ("breakeven", Severity.WARNING),
    ]


def test_times_come_from_the_rules_of_the_workspace():
    rules = rules_of({"throttle": {"for_s": 0.0}})
    hot = with_gpu(throttle=("heat (hw)",))
    assert [change.time_s for change in follow([hot], rules)] == [NOW_S]


def changed(time_s: float, *, is_open: bool, rule: str = "throttle", words: str = "hot"):
    return AlertsChanged("h", time_s, rule, is_open=is_open, words=words)


def test_alerts_fold_into_what_is_open_and_what_was():
    alerts = fold((), changed(1, is_open=True))
    alerts = fold(alerts, changed(2, is_open=True, words="hotter"))
    assert [(a.words, a.raised_at_s, a.is_open) for a in alerts] == [("hotter", 1, True)]
    alerts = fold(alerts, changed(3, is_open=True, rule="lost"))
    alerts = fold(alerts, changed(4, is_open=False))
    assert [(a.rule, a.cleared_at_s) for a in alerts] == [("lost", None), ("throttle", 4)]
    assert fold(alerts, changed(5, is_open=False)) == alerts


def test_of_cleared_alerts_the_newest_are_kept():
    alerts: tuple[Alert, ...] = ()
    for n in range(MOST_CLEARED + 5):
        alerts = fold(fold(alerts, changed(2 * n, is_open=True)), changed(2 * n + 1, is_open=False))
    assert len(alerts) == MOST_CLEARED
    assert alerts[0].cleared_at_s == 2 * (MOST_CLEARED + 4) + 1
