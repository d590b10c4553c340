from __future__ import annotations

from dataclasses import replace

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
from specctl.domain.training import TrainedOn
from tests.unit.domain.requests import request

CODE = TrainedOn("code", "c" * 64, 12)


def known(concurrency, rate, words="a probe of 3 h ago", algorithm=None, trained_on=None):
    answers = [request(completion_tokens=100, client_latency_s=100 / rate, index=n) for n in (0, 1)]
    window = Window("s", "p", concurrency, algorithm, 2.0, trained_on=trained_on)
    return Known(add_up(window, answers), words)


def test_from_the_nearest_concurrency():
    found = estimate([Loop(24, 4000, 8)], [known(1, 50.0), known(8, 20.0)])
    assert found.seconds == pytest.approx(4000 / (20 * 8))
    assert str(found) == "about 25 s, at most, from a probe of 3 h ago"
    other = estimate([Loop(24, 4000, 4), Loop(8, 1000, 4)], [known(1, 50.0)])
    assert other.seconds == pytest.approx(5000 / (50 * 4))
    assert "at concurrency 1" in other.words


def test_ngram_results_that_were_as_warm_go_before_others():
    cold, warm = known(8, 20.0, algorithm="NGRAM"), known(1, 50.0, "a trial", "NGRAM", CODE)
    loops = [Loop(24, 4000, 8)]
    found = estimate(loops, [cold, warm], trained_on=CODE)
    assert found.seconds == pytest.approx(4000 / (50 * 8))
    assert str(found) == "about 10 s, at most, from a trial at concurrency 1"
    assert estimate(loops, [warm, cold]).seconds == pytest.approx(4000 / (20 * 8))


def test_ngram_results_that_were_not_as_warm_are_named():
    cold, warm = (
        known(8, 20.0, algorithm="NGRAM"),
        known(8, 50.0, algorithm="NGRAM", trained_on=CODE),
    )
    loops = [Loop(24, 4000, 8)]
    assert estimate(loops, [cold], trained_on=CODE).unlike == ("p was cold, not warm after code",)
    assert estimate(loops, [warm]).basis.endswith("; p was warm after code, not cold")
    other = replace(CODE, sha256="d" * 64)
    words = estimate(loops, [warm], trained_on=other).basis
    assert "warm after code (cccccccccccc, 12 prompts), not warm after code (dddddddddddd" in words


def test_what_remembers_nothing_is_as_fast_cold_as_warm():
    found = estimate([Loop(24, 4000, 8)], [known(8, 20.0, algorithm="EAGLE3")], trained_on=CODE)
    assert found.unlike == ()


def test_of_two_arms_everything_unlike_is_said():
    one, other = Estimate(10.0, "x"), Estimate(30.0, "y", ("p was cold, not warm after code",))
    assert str(mean_estimate([one, other, other])).endswith("x; p was cold, not warm after code")


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
