"""Arrivals, and servers of known capacity under them."""

from __future__ import annotations

import heapq
import random
from itertools import pairwise

import pytest

from specctl.domain.open_loop import (
    ArrivalKind,
    Arrivals,
    add_up_open_loop,
    judge_pace,
    most_at_once,
)
from tests.unit.domain.requests import request


def test_the_same_seed_gives_the_same_times():
    one, other = Arrivals(2.0, seed=7), Arrivals(2.0, seed=8)
    assert one.due_s(50) == one.due_s(50)
    assert one.due_s(50) != other.due_s(50)
    assert one.due_s(50)[:20] == one.due_s(20)
    assert one.due_s(1) == (0.0,)


def test_poisson_gaps_have_the_mean_and_the_spread_of_their_rate():
    times = Arrivals(4.0, seed=1).due_s(8001)
    gaps = [b - a for a, b in pairwise(times)]
    assert sum(gaps) / len(gaps) == pytest.approx(0.25, rel=0.04)
    squares = sum((gap - 0.25) ** 2 for gap in gaps) / len(gaps)
    assert squares**0.5 == pytest.approx(0.25, rel=0.06)
    assert min(gaps) >= 0


def test_constant_gaps():
    assert Arrivals(4.0, ArrivalKind.CONSTANT).due_s(3) == (0.0, 0.25, 0.5)


def served(arrivals, count=60, *, service_s, servers=1, places=1000, spread=0.0, seed=3):
    """`servers` of one request each behind a queue, and `places` in flight at the client."""
    chance = random.Random(seed)
    free = [0.0] * servers
    in_flight: list[float] = []
    found = []
    for due in arrivals.due_s(count):
        began = due
        if len(in_flight) >= places:
            began = max(began, heapq.heappop(in_flight))
        start = max(began, heapq.heappop(free))
        end = start + service_s * (1 + spread * (2 * chance.random() - 1))
        heapq.heappush(free, end)
        heapq.heappush(in_flight, end)
        found.append(request(due_s=due, began_s=began, client_latency_s=end - began))
    return found


@pytest.mark.parametrize("load", [1.6, 2.0, 5.0, 20.0])
@pytest.mark.parametrize("kind", list(ArrivalKind))
def test_a_server_that_is_asked_for_too_much_falls_behind(load, kind):
    answers = served(Arrivals(2.0, kind), service_s=load / 2.0)
    assert judge_pace(answers, 1000).keeps_up is False


@pytest.mark.parametrize("load", [0.2, 0.5, 0.7])
@pytest.mark.parametrize("seed", range(12))
def test_a_server_with_room_keeps_up(load, seed):
    answers = served(
        Arrivals(2.0, seed=seed), service_s=4 * load / 2.0, servers=4, spread=0.8, seed=seed
    )
    assert judge_pace(answers, 1000).keeps_up is not False


def test_waiting_for_a_place_is_said_whatever_the_server_does():
    answers = served(Arrivals(2.0, ArrivalKind.CONSTANT), service_s=2.0, servers=50, places=2)
    pace = judge_pace(answers, 2)
    assert pace.keeps_up is False
    assert "waited for one of 2 places" in pace.words


def test_a_window_shorter_than_a_request_cannot_tell():
    answers = served(Arrivals(20.0, ArrivalKind.CONSTANT), 20, service_s=9.0, servers=50)
    assert judge_pace(answers, 1000).keeps_up is None
    assert "too short to tell" in judge_pace(answers, 1000).words
    assert judge_pace(answers[:5], 1000).keeps_up is None


def test_latency_is_from_when_a_request_was_due():
    asked = Arrivals(10.0, ArrivalKind.CONSTANT, most_in_flight=1)
    answers = served(asked, 11, service_s=1.0, places=1)
    found = add_up_open_loop(asked, answers, ttfts_s=[0.5], inter_token_p99_s=None)
    assert found.e2e_p50_s == pytest.approx(5 * 0.9 + 1.0)
    assert found.offered_per_s == pytest.approx(10.0)
    assert found.achieved_per_s == pytest.approx(1.0)
    assert (found.reached_in_flight, found.waited, found.keeps_up) == (1, 10, False)
    assert found.ttft_p99_s == 0.5


def test_failed_requests_are_arrivals_and_no_answers():
    asked = Arrivals(1.0, ArrivalKind.CONSTANT)
    answers = [*served(asked, 9, service_s=0.1), request(due_s=9.0, began_s=9.0, error="refused")]
    found = add_up_open_loop(asked, answers, ttfts_s=[], inter_token_p99_s=None)
    assert found.offered_per_s == pytest.approx(1.0)
    assert found.keeps_up is True
    assert found.ttft_p99_s is None


def test_the_most_at_once_counts_what_overlaps():
    ends = [request(began_s=at, client_latency_s=1.5) for at in (0.0, 1.0, 2.0)]
    assert most_at_once(ends) == 2
    assert most_at_once([]) == 0
