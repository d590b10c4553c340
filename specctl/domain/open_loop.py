"""Requests that arrive at a rate, whatever the server does: when, and what came of it.

Every time is from when a request was due, not from when it could be sent: a server that falls
behind makes those after it late too, and a client that waited with them would hide it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from math import log
from typing import TYPE_CHECKING

from specctl.domain.percentiles import percentile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.probe import RequestResult

MOST_IN_FLIGHT = 256
WAIT_S = 0.02
"""Below this a request was late by a timer, not by a full house."""

WAITED_SHARE = 0.05
ANSWERED_SHARE = 0.9
HALF = 0.5
FEWEST = 8
LEFT_LEAST = 2
"""Requests left over, before a server is said to fall behind: one may simply be long."""


class ArrivalKind(StrEnum):
    """How the times between two requests are spread."""

    POISSON = "poisson"
    CONSTANT = "constant"


@dataclass(frozen=True, slots=True)
class Arrivals:
    """When requests are to be sent."""

    rate_per_s: float
    kind: ArrivalKind = ArrivalKind.POISSON
    seed: int = 0
    """Of the gaps of Poisson arrivals: the same seed gives the same times everywhere."""

    most_in_flight: int = MOST_IN_FLIGHT
    """A request that is due while so many are in flight waits, first come first served."""

    def due_s(self, count: int) -> tuple[float, ...]:
        """When each of `count` requests is due; the first at once."""
        if self.kind is ArrivalKind.CONSTANT:
            return tuple(place / self.rate_per_s for place in range(count))
        chance = random.Random(self.seed)  # noqa: S311 - a simulation, and it must be repeatable
        times = [0.0]
        while len(times) < count:
            times.append(times[-1] - log(1 - chance.random()) / self.rate_per_s)
        return tuple(times[:count])

    @property
    def words(self) -> str:
        """`2/s, Poisson arrivals (seed 0)`."""
        kind = "constant gaps"
        if self.kind is ArrivalKind.POISSON:
            kind = f"Poisson arrivals (seed {self.seed})"
        return f"{self.rate_per_s:g}/s, {kind}, at most {self.most_in_flight} in flight"


@dataclass(frozen=True, slots=True)
class OpenLoop:
    """What came of a rate; times are from when each request was due."""

    asked_per_s: float
    kind: ArrivalKind
    seed: int
    most_in_flight: int
    """The bound."""

    offered_per_s: float | None
    """Of the arrivals as they fell; None of a single one."""

    achieved_per_s: float | None
    """From the first answer to the last; None below two answers."""

    reached_in_flight: int
    waited: int
    """Requests that waited for a free place."""

    wait_p95_s: float | None
    ttft_p99_s: float | None
    inter_token_p99_s: float | None
    e2e_p50_s: float | None
    e2e_p95_s: float | None
    e2e_p99_s: float | None
    keeps_up: bool | None
    """None: the window is too short to tell."""

    pace: str
    """Why that is said of `keeps_up`; empty when it keeps up."""


def latencies_s(requests: Sequence[RequestResult]) -> list[float]:
    """From when each was due to its end."""
    return [request.wait_s + request.client_latency_s for request in requests]


def add_up_open_loop(
    arrivals: Arrivals,
    requests: Sequence[RequestResult],
    *,
    ttfts_s: Sequence[float],
    inter_token_p99_s: float | None,
) -> OpenLoop:
    """What `requests`, sent at `arrivals`, say of the rate; failed ones count as arrivals only."""
    good = [request for request in requests if request.error is None]
    dues = sorted(request.due_s or 0.0 for request in requests)
    ends = sorted(request.end_s for request in good)
    times_s = latencies_s(good)
    waited = sum(request.wait_s > WAIT_S for request in requests)
    reached = most_at_once(requests)
    pace = judge_pace(requests, arrivals.most_in_flight)
    return OpenLoop(
        asked_per_s=arrivals.rate_per_s,
        kind=arrivals.kind,
        seed=arrivals.seed,
        most_in_flight=arrivals.most_in_flight,
        offered_per_s=_rate(dues),
        achieved_per_s=_rate(ends),
        reached_in_flight=reached,
        waited=waited if reached >= arrivals.most_in_flight else 0,
        wait_p95_s=percentile([request.wait_s for request in requests], 95),
        ttft_p99_s=percentile(ttfts_s, 99),
        inter_token_p99_s=inter_token_p99_s,
        e2e_p50_s=percentile(times_s, 50),
        e2e_p95_s=percentile(times_s, 95),
        e2e_p99_s=percentile(times_s, 99),
        keeps_up=pace.keeps_up,
        pace=pace.words,
    )


def _rate(times_s: Sequence[float]) -> float | None:
    if len(times_s) < 2 or times_s[-1] <= times_s[0]:  # noqa: PLR2004 - a rate needs two
        return None
    return (len(times_s) - 1) / (times_s[-1] - times_s[0])


def most_at_once(requests: Sequence[RequestResult]) -> int:
    """The most that were in flight together."""
    moves = [(request.began_s, 1) for request in requests]
    moves += [(request.end_s, -1) for request in requests]
    most = now = 0
    for _, move in sorted(moves):
        now += move
        most = max(most, now)
    return most


@dataclass(frozen=True, slots=True)
class Pace:
    """Whether a server keeps up, and why that is said."""

    keeps_up: bool | None
    """None: the window is too short to tell."""

    words: str


def judge_pace(requests: Sequence[RequestResult], most_in_flight: int) -> Pace:
    """Whether more was asked for than was served.

    It was when requests had to wait for a free place; when answers came at less than half the rate
    of the arrivals; or when of those that were due early enough (before the last arrival, by the
    p90 latency of the first quarter) too few were answered as it came.
    """
    good = sorted(
        (request for request in requests if request.error is None),
        key=lambda request: request.due_s or 0.0,
    )
    if len(good) < FEWEST:
        return Pace(None, f"{len(good)} answers are too few to tell, it takes {FEWEST}")
    if words := _find_full_house(requests, most_in_flight):
        return Pace(keeps_up=False, words=words)
    offered = _rate([request.due_s or 0.0 for request in good]) or 0.0
    achieved = _rate(sorted(request.end_s for request in good)) or 0.0
    if achieved < HALF * offered:
        words = f"requests came at {offered:.2f}/s and answers at {achieved:.2f}/s"
        return Pace(keeps_up=False, words=f"{words}: the queue grows")
    return _judge_backlog(good)


def _judge_backlog(good: Sequence[RequestResult]) -> Pace:
    last_s = good[-1].due_s or 0.0
    typical_s = percentile(latencies_s(good[: len(good) // 4]), 90) or 0.0
    early = [request for request in good if (request.due_s or 0.0) <= last_s - typical_s]
    if len(early) < len(good) / 2:
        words = f"a request takes {typical_s:.1f} s, and all of them came within {last_s:.1f} s"
        return Pace(None, f"{words}: too short to tell")
    answered = sum(request.end_s <= last_s for request in good)
    if len(early) - answered < LEFT_LEAST or answered >= ANSWERED_SHARE * len(early):
        return Pace(keeps_up=True, words="")
    words = f"when the last request came, {answered} were answered, of {len(early)} at the pace of"
    return Pace(keeps_up=False, words=f"{words} the first quarter: the queue grows")


def _find_full_house(requests: Sequence[RequestResult], most_in_flight: int) -> str:
    waits_s = [request.wait_s for request in requests if request.wait_s > WAIT_S]
    is_full = most_at_once(requests) >= most_in_flight
    if not is_full or len(waits_s) <= WAITED_SHARE * len(requests):
        return ""
    return (
        f"{len(waits_s)} of {len(requests)} requests waited for one of {most_in_flight} places, "
        f"up to {max(waits_s):.1f} s"
    )
