from __future__ import annotations

import pytest

from specctl.domain.missing import Why
from specctl.facts.log import read_lines
from specctl.facts.log_meter import LogMeter, weighted_accept_length


def decode(second: int, rank: str, rate: float, length: float = 2.0, running: int = 1) -> str:
    return (
        f"[2026-01-01 00:00:{second:02d}{rank}] Decode batch, #running-req: {running}, #token: 9, "
        f"token usage: 0.1{second}, accept len: {length}, gen throughput (token/s): {rate}, "
        "#queue-req: 1"
    )


def prefill(second: int, running: int, rank: str = "") -> str:
    return (
        f"[2026-01-01 00:00:{second:02d}{rank}] Prefill batch, #new-seq: 1, #new-token: 6, "
        f"#running-req: {running}, #queue-req: 0"
    )


def metered(*texts: str) -> LogMeter:
    meter = LogMeter()
    for line in read_lines(texts):
        meter.feed(line, now_s=100.0)
    return meter


def test_the_first_report_counts_the_wait_before_it() -> None:
    sample = metered(decode(1, "", 3.0)).sample(100.0)
    assert sample.tokens_per_s is None
    assert sample.missing["tokens_per_s"].why is Why.NO_WINDOW
    assert sample.accept_length == 2.0


@pytest.mark.parametrize(
    ("between", "is_marked"),
    [
        ([], False),
        ([prefill(2, running=1)], False),
        ([prefill(2, running=0)], False),
        ([prefill(9, running=0)], True),
    ],
    ids=["no prefill", "joined a running batch", "back to back", "after a pause"],
)
def test_a_pause_is_a_prefill_into_an_empty_batch(between: list[str], is_marked: bool) -> None:
    meter = metered(decode(1, "", 3.0), decode(2, "", 90.0), *between, decode(10, "", 80.0))
    assert meter.reports[0].is_after_idle is is_marked


def test_throughput_is_summed_over_dp_and_one_tp_rank_of_each() -> None:
    texts = []
    for dp in (0, 1):
        for tp in (2 * dp, 2 * dp + 1):
            rank = f" DP{dp} TP{tp}"
            texts += [decode(1, rank, 1.0), decode(2, rank, 100.0 * (dp + 1), length=2.0 + dp)]
    sample = metered(*texts).sample(100.0)
    assert sample.tokens_per_s == 300.0
    assert sample.running_requests == 2
    assert sample.queued_requests == 2
    # 50 verify steps/s at 2.0 and 66.7 at 3.0
    assert sample.accept_length == pytest.approx(300 / (50 + 200 / 3))


def test_the_lowest_shard_speaks_even_when_it_is_heard_later() -> None:
    meter = metered(decode(1, " TP3", 1.0), decode(2, " TP3", 50.0), decode(3, " TP0", 60.0))
    assert [dict(report.ranks) for report in meter.reports] == [{"TP": 0}]


def test_old_reports_are_stale_not_zero() -> None:
    meter = metered(decode(1, "", 3.0), decode(2, "", 90.0))
    sample = meter.sample(160.0)
    assert sample.tokens_per_s is None
    assert sample.running_requests is None
    assert sample.missing["tokens_per_s"].why is Why.STALE
    assert sample.is_idle


def test_no_report_yet() -> None:
    sample = LogMeter().sample(1.0)
    assert sample.missing["accept_length"].why is Why.NO_WINDOW


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], None),
        ([(2.0, None), (4.0, None)], 3.0),
        ([(2.0, 0.0), (4.0, 0.0)], 3.0),
        ([(3.10, 180.1), (1.00, 20.4)], 200.5 / (180.1 / 3.10 + 20.4)),
    ],
)
def test_weighting(pairs: list[tuple[float, float | None]], expected: float | None) -> None:
    assert weighted_accept_length(pairs) == (
        expected if expected is None else pytest.approx(expected)
    )
