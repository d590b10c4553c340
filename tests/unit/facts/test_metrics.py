from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from specctl.domain.missing import Why
from specctl.facts.metrics import Histogram, Metrics, parse_metrics
from specctl.facts.metrics_sample import Scrape, read_metrics
from tests.unit.facts.captures import case

if TYPE_CHECKING:
    from specctl.domain.sample import ServerSample

A23 = parse_metrics(case("A23"))


def test_a23_names_with_either_separator_and_any_labels() -> None:
    assert A23.total("gen_throughput") == pytest.approx(192.24507350455715)
    assert A23.total("cache_hit_rate") == 0
    assert A23.total("token_usage") == 0
    assert A23.total("spec_verify_calls_total") == 12345


def test_a23_hostile_lines_are_skipped_and_counted() -> None:
    # the NaN, and the remark in brackets
    assert A23.skipped == 2
    assert A23.total("num_queue_reqs") is None


def test_a23_a_second_identical_scrape_is_idle_and_its_rate_stale() -> None:
    _, first = read_metrics(A23, None, time_s=0.0)
    sample, _ = read_metrics(A23, first, time_s=60.0)
    assert sample.is_idle
    assert sample.tokens_per_s is None
    assert sample.missing["tokens_per_s"].why is Why.STALE
    assert "192.2" in sample.missing["tokens_per_s"].detail


def scrape(
    *,
    generated: float = 1000,
    verified: float | None = 400,
    decoded: float | None = None,
    running: float = 1,
    throughput: float = 50.0,
    length: float = 2.5,
    extra: str = "",
) -> Metrics:
    lines = [
        f"sglang:generation_tokens_total {generated}",
        f"sglang:num_running_reqs {running}",
        f"sglang:gen_throughput {throughput}",
        f"sglang:spec_accept_length {length}",
        extra,
    ]
    if verified is not None:
        lines.append(f"sglang:spec_verify_calls_total {verified}")
    if decoded is not None:
        lines.append(f'sglang:realtime_tokens_total{{mode="decode"}} {decoded}')
        lines.append('sglang:realtime_tokens_total{mode="prefill_compute"} 1e9')
    return parse_metrics("\n".join(lines))


def after(first: Metrics, second: Metrics, *, seconds: float = 2.0) -> ServerSample:
    _, kept = read_metrics(first, None, time_s=0.0)
    return read_metrics(second, kept, time_s=seconds)[0]


def test_rates_come_from_counters() -> None:
    sample = after(
        scrape(decoded=5000), scrape(decoded=5300, generated=1290, verified=500), seconds=2.0
    )
    assert sample.tokens_per_s == 150
    assert sample.accept_length == pytest.approx(2.9)
    assert sample.accept_length_scope == "window"
    assert (sample.generated_tokens, sample.verify_steps) == (1290, 500)


def test_without_the_live_counter_the_gauge_counts_while_something_moves() -> None:
    sample = after(scrape(verified=None), scrape(verified=None, throughput=55.5, length=2.25))
    assert (sample.tokens_per_s, sample.accept_length) == (55.5, 2.25)
    assert sample.accept_length_scope == "interval"
    assert not sample.is_idle


def test_a_gauge_may_stand_still_for_a_few_seconds_while_requests_run() -> None:
    _, kept = read_metrics(scrape(), None, time_s=0.0)
    _, kept = read_metrics(scrape(throughput=60), kept, time_s=1.0)
    sample, kept = read_metrics(scrape(throughput=60), kept, time_s=2.0)
    assert sample.tokens_per_s == 60
    sample, _ = read_metrics(scrape(throughput=60), kept, time_s=30.0)
    assert sample.tokens_per_s is None
    assert sample.is_idle


def test_a_version_whose_running_requests_can_be_believed_is_not_idle_while_they_run() -> None:
    _, kept = read_metrics(scrape(), None, time_s=0.0, version="0.5.23")
    sample, _ = read_metrics(scrape(), kept, time_s=60.0, version="0.5.23")
    assert not sample.is_idle
    assert sample.running_requests == 1
    assert sample.has_moved is False


def test_the_live_counter_standing_still_is_a_true_zero() -> None:
    sample = after(scrape(decoded=5000, running=0), scrape(decoded=5000, running=0))
    assert sample.tokens_per_s == 0.0
    assert sample.is_idle


def test_a_restarted_server_counts_from_zero_again() -> None:
    sample = after(scrape(decoded=5000), scrape(decoded=10, generated=20, verified=8))
    assert sample.tokens_per_s is None
    assert (sample.accept_length, sample.accept_length_scope) == (2.5, "lifetime")


def test_two_looks_at_the_same_instant_give_no_rate() -> None:
    sample = after(scrape(decoded=5000), scrape(decoded=5300), seconds=0.0)
    assert sample.tokens_per_s is None


@pytest.mark.parametrize(
    ("is_speculating", "why"),
    [(False, Why.NOT_SPECULATING), (True, Why.NO_WINDOW), (None, Why.NO_WINDOW)],
)
def test_no_accept_length_has_its_reason(is_speculating: bool | None, why: Why) -> None:
    metrics = scrape(verified=None, length=0.0)
    sample, _ = read_metrics(metrics, None, time_s=0.0, is_speculating=is_speculating)
    assert sample.accept_length is None
    assert sample.missing["accept_length"].why is why


def test_time_to_first_token_is_of_the_window_only() -> None:
    def ttft(low: int, high: int) -> str:
        name = "sglang:time_to_first_token_seconds_bucket"
        return "\n".join(
            [
                f'{name}{{le="0.1"}} {low}',
                f'{name}{{le="1.0"}} {high}',
                f'{name}{{le="+Inf"}} {high}',
            ]
        )

    sample = after(scrape(extra=ttft(100, 100)), scrape(extra=ttft(100, 110)))
    assert sample.ttft_p50_s == pytest.approx(0.55)
    sample = after(scrape(extra=ttft(100, 100)), scrape(extra=ttft(100, 100)))
    assert sample.missing["ttft_p50_s"].why is Why.NO_WINDOW


@pytest.mark.parametrize(
    ("buckets", "share", "expected"),
    [
        (((1.0, 10.0), (2.0, 20.0), (math.inf, 20.0)), 0.5, 1.0),
        (((1.0, 10.0), (2.0, 20.0), (math.inf, 20.0)), 0.75, 1.5),
        (((1.0, 0.0), (math.inf, 4.0)), 0.5, 1.0),
        (((1.0, 0.0), (math.inf, 0.0)), 0.5, None),
        ((), 0.5, None),
    ],
)
def test_quantile(
    buckets: tuple[tuple[float, float], ...], share: float, expected: float | None
) -> None:
    assert Histogram(buckets).quantile(share) == expected


def test_ranks_and_priorities() -> None:
    text = "\n".join(
        [
            'sglang:num_running_reqs{dp_rank="0",tp_rank="1"} 7',
            'sglang:num_running_reqs{dp_rank="0",tp_rank="0"} 3',
            'sglang:num_running_reqs{dp_rank="0",tp_rank="0",priority="1"} 2',
            'sglang:num_running_reqs{dp_rank="1",tp_rank="2",priority="1"} 9',
            'sglang:num_queue_reqs{tp_rank="0",priority="1"} 2',
            'sglang:num_queue_reqs{tp_rank="0",priority="2"} 3',
        ]
    )
    metrics = parse_metrics(text)
    assert metrics.per_group("num_running_reqs") == {"0": 3}
    assert metrics.per_group("num_queue_reqs") == {"0": 5}


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        (r'a{x="a\"quote\\back\nnl"} 1', {"x": 'a"quote\\back\nnl'}),
        ('a{ x = "1" , y="2", } 1 1700000000', {"x": "1", "y": "2"}),
        ("a 1 # {trace_id=x} 1", {}),
        ('a{x="}"} 1', {"x": "}"}),
    ],
)
def test_labels(line: str, labels: dict[str, str]) -> None:
    (series,) = parse_metrics(line).series("a")
    assert (dict(series.labels), series.value) == (labels, 1.0)


@pytest.mark.parametrize("line", ['a{x="1} 1', "a{x=1} 1", "a", "{} 1", "a{} x", "a +Inf", "a NaN"])
def test_lines_that_mean_nothing(line: str) -> None:
    metrics = parse_metrics(line)
    assert (metrics.families, metrics.skipped) == ({}, 1)


def test_a_first_look_trusts_no_gauge() -> None:
    sample, kept = read_metrics(scrape(verified=None), None, time_s=1.0)
    assert sample.tokens_per_s is None
    assert sample.accept_length is None
    assert kept == Scrape(1.0, kept.counters, kept.gauges, None, None)
