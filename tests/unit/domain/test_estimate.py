from __future__ import annotations

import pytest

from specctl.domain.estimate import (
    UNTIL_THE_FIRST,
    Estimate,
    Known,
    Loop,
    Progress,
    estimate,
    mean_estimate,
)
from specctl.domain.probing import Window, add_up
from tests.unit.domain.requests import request


def known(concurrency, rate, words="a probe of 3 h ago"):
    answers = [request(completion_tokens=100, client_latency_s=100 / rate, index=n) for n in (0, 1)]
    return Known(add_up(Window("s", "p", concurrency, None, 2.0), answers), words)


def test_from_the_nearest_concurrency():
    found = estimate([Loop(24, 4000, 8)], [known(1, 50.0), known(8, 20.0)])
    assert found.seconds == pytest.approx(4000 / (20 * 8))
    assert str(found) == "about 25 s, at most, from a probe of 3 h ago"
    other = estimate([Loop(24, 4000, 4), Loop(8, 1000, 4)], [known(1, 50.0)])
    assert other.seconds == pytest.approx(5000 / (50 * 4))
    assert "at concurrency 1" in other.words


def test_without_a_record_it_is_unknown_and_says_why():
    found = estimate([Loop(24, 4000, 1)], [], why_unknown="p was never measured on gpu8")
    assert found.seconds is None
    assert str(found) == f"{UNTIL_THE_FIRST}: p was never measured on gpu8"
    failed = Known(add_up(Window("s", "p", 1, None, 2.0), [request(error="refused")]), "a probe")
    assert estimate([Loop(24, 4000, 1)], [failed]).words == UNTIL_THE_FIRST


def test_of_two_arms_the_mean_or_the_reason():
    assert mean_estimate([Estimate(10.0, "x"), Estimate(30.0, "y")]) == Estimate(20.0, "x")
    assert mean_estimate([Estimate(10.0, "x"), Estimate(None, "why")]).words == "why"
    assert mean_estimate([]).seconds is None


def test_time_left_is_told_from_the_first_answer_on():
    progress = Progress(1000, began_s=100.0)
    assert progress.remaining_s(105.0) is None
    progress.count(200)
    assert progress.remaining_s(110.0) == pytest.approx(40.0)
    progress.count(800)
    assert progress.remaining_s(150.0) == 0.0
    assert Progress().remaining_s(1.0) is None


def test_of_an_open_loop_it_is_the_time_until_the_last_arrival():
    progress = Progress(1000, last_due_s=60.0, began_s=100.0)
    progress.count(900)
    assert progress.remaining_s(110.0) == pytest.approx(50.0)
    assert progress.remaining_s(200.0) == 0.0


def test_what_takes_how_long_is_a_clause_either_way():
    known, unknown = Estimate(240.0, "at most, from a probe of 3 h ago"), Estimate(None, "unknown")
    words = "measuring takes about 4 min, at most, from a probe of 3 h ago"
    assert known.said("measuring") == words
    assert unknown.said("measuring") == "how long measuring takes is unknown"
