from __future__ import annotations

import math
import sys
from random import Random

import pytest

from specctl.domain.events import HostSampled, ServerSampled, ServersSeen
from specctl.domain.history import (
    SERIES_PER_HOST,
    History,
    Key,
    Series,
    Span,
    gpu_key,
    server_key,
)
from tests.tui import parts, story

NOW_S = 10_000.0


def filled(
    seconds: int, value: float = 1.0, *, hold_s: float = 3.0, until_s: float = NOW_S
) -> Series:
    series = Series(hold_s)
    for i in range(seconds):
        series.add(until_s - seconds + 1 + i, value)
    return series


@pytest.mark.parametrize("span", list(Span))
@pytest.mark.parametrize("cells", [1, 20, 65, 300])
def test_a_series_filled_all_along_has_a_value_in_every_cell(span: Span, cells: int) -> None:
    assert filled(1900).values(span, NOW_S, cells) == [1.0] * cells


def test_what_was_not_measured_is_a_gap_and_not_a_flat_line() -> None:
    series = filled(100, until_s=NOW_S - 160)
    for second in range(40):
        series.add(NOW_S - 39 + second, 2.0)

    values = series.values(Span.MINUTES_5, NOW_S, 60)

    assert values[-8:] == [2.0] * 8
    assert None in values
    assert values.count(None) == pytest.approx((300 - 100 - 40) / 5, abs=3)
    assert values[:7] == [None] * 7


def test_a_short_silence_is_a_rhythm_and_not_a_gap() -> None:
    series = Series(hold_s=6.0)
    for second in range(0, 60, 5):
        series.add(NOW_S - second, 3.0)

    assert None not in series.values(Span.MINUTE, NOW_S, 60)[6:]


def test_the_newest_value_is_not_repeated_for_ever() -> None:
    values = filled(30, until_s=NOW_S - 20).values(Span.MINUTE, NOW_S, 60)

    assert values[-1] is None
    assert values[-15:] == [None] * 15


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_leaves_a_gap(value: float | None) -> None:
    series = Series(3.0)
    series.add(NOW_S, value)

    assert series.values(Span.MINUTE, NOW_S, 10) == [None] * 10


def test_cells_keep_their_place_in_time_so_that_a_plot_moves_by_whole_cells() -> None:
    series = Series(3.0)
    for i in range(300):
        series.add(NOW_S - 299 + i, float(i))
    earlier = series.values(Span.MINUTES_5, NOW_S, 50)

    assert series.values(Span.MINUTES_5, NOW_S + 5.9, 50)[:-3] == earlier[1:-2]


def test_values_older_than_the_span_or_from_a_clock_set_back_are_dropped() -> None:
    series = filled(10)
    series.add(NOW_S - 5000, 99.0)

    assert 99.0 not in series.values(Span.MINUTES_30, NOW_S, 100)


def test_a_jump_of_the_clock_forward_empties_the_ring_and_costs_no_more_than_its_size() -> None:
    series = filled(60)
    series.add(NOW_S + 1e9, 5.0)

    assert series.values(Span.MINUTE, NOW_S + 1e9, 30).count(5.0) >= 1
    assert 1.0 not in series.values(Span.MINUTES_30, NOW_S + 1e9, 30)


@pytest.mark.parametrize("span", list(Span))
@pytest.mark.parametrize("cells", [1, 7, 74, 106, 300])
def test_what_was_asked_for_before_changes_nothing_of_what_is_asked_for_now(
    span: Span, cells: int
) -> None:
    random = Random(cells)
    series, now_s = Series(hold_s=3.0), NOW_S
    for _ in range(400):
        now_s += random.choice([0.0, 0.1, 0.5, 1.0, 7.0, -0.3])
        for _ in range(random.choice([0, 0, 1, 2])):
            series.add(now_s - random.choice([0.0, 0.2, 3.0, 40.0, -2.0]), random.random())

        assert series.values(span, now_s, cells) == series.copy().values(span, now_s, cells)


def test_a_copy_is_not_touched_by_what_comes_later() -> None:
    series = filled(60)
    copy = series.copy()
    series.add(NOW_S + 1, 50.0)

    assert 50.0 not in copy.values(Span.MINUTE, NOW_S + 1, 60)


def test_memory_of_a_series_is_fixed() -> None:
    series = filled(10)
    before = _size(series)
    for i in range(5000):
        series.add(NOW_S + i, float(i))

    assert _size(series) == before
    assert before < 6000


def _size(series: Series) -> int:
    rings = series._rings.values()
    return sum(sys.getsizeof(ring.means) + sys.getsizeof(ring.counts) for ring in rings)


def test_history_records_gpus_and_servers() -> None:
    history = History()
    for event in story.pro6k_01():
        history.record(event)

    clocks = history.values(gpu_key("pro6k-01", 5, "sm_clock_mhz"), Span.MINUTES_5, parts.NOW_S, 40)
    lengths = history.values(
        server_key("pro6k-01", "7c1e", "accept_length"), Span.MINUTES_5, parts.NOW_S, 40
    )

    assert clocks[2] == pytest.approx(2420)
    assert clocks[-1] == pytest.approx(1710)
    assert all(length is not None and 1.3 < length < 1.7 for length in lengths)


def test_an_idle_server_gives_zero_tokens_and_no_accept_length() -> None:
    history = History()
    idle = parts.server_sample(192.2, 2.41, is_idle=True)
    history.record(ServerSampled("h", NOW_S, "s", idle))

    assert history.values(server_key("h", "s", "tokens_per_s"), Span.MINUTE, NOW_S, 10)[-1] == 0.0
    assert history.values(server_key("h", "s", "accept_length"), Span.MINUTE, NOW_S, 10)[-1] is None


def test_a_lost_gpu_has_a_gap() -> None:
    history = History()
    lost = parts.gpu(0, lost=True, sm_clock_mhz=1000.0)
    history.record(HostSampled("h", NOW_S, parts.host_sample((lost,))))

    assert history.values(gpu_key("h", 0, "sm_clock_mhz"), Span.MINUTE, NOW_S, 10) == [None] * 10


def test_series_per_host_are_bounded_and_gone_servers_forgotten() -> None:
    history = History()
    for i in range(SERIES_PER_HOST):
        history.record(ServerSampled("h", NOW_S + i, f"s{i}", parts.server_sample()))
    assert len(history._series["h"]) == SERIES_PER_HOST

    history.record(ServersSeen("h", NOW_S + 10_000, ()))
    assert history._series["h"] == {}


def test_a_server_just_gone_keeps_its_past() -> None:
    history = History()
    history.record(ServerSampled("h", NOW_S, "s", parts.server_sample()))
    history.record(ServersSeen("h", NOW_S + 1, ()))

    assert (
        history.values(server_key("h", "s", "tokens_per_s"), Span.MINUTE, NOW_S + 1, 10)[-1] == 52.0
    )


def test_an_unknown_series_is_all_gap() -> None:
    assert History().values(Key("a", "b", "c"), Span.MINUTE, NOW_S, 3) == [None] * 3


def test_spans_go_round() -> None:
    assert [span.next.minutes for span in Span] == [5, 30, 1]
