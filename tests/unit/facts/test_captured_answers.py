from __future__ import annotations

import json

import pytest

from specctl.domain.errors import ServerAnswerError
from specctl.facts.generate import read_meta_info
from specctl.facts.loads import loads_sample, parse_loads
from specctl.facts.metrics import parse_metrics
from specctl.facts.metrics_sample import Scrape, read_metrics
from specctl.facts.server_info import parse_server_info
from tests.unit.facts.captures import DATA, Capture, captures


@pytest.mark.parametrize("scrape", captures("metrics"), ids=str)
def test_metrics(scrape: Capture) -> None:
    expected, metrics = scrape.expected, parse_metrics(scrape.text)
    sample, _ = read_metrics(metrics, None, time_s=100.0)
    assert sample.running_requests == expected["running"]
    assert sample.queued_requests == expected["queued"]
    assert sample.accept_length == pytest.approx(expected["accept_length"])
    assert sample.accept_length_scope == expected["scope"]
    assert sample.tokens_per_s == expected["tokens_per_s"]
    assert sample.token_usage == expected["token_usage"]
    for name, value in (("tokens_per_s", sample.tokens_per_s), ("ttft_p50_s", sample.ttft_p50_s)):
        assert (value is None) is (name in sample.missing)


@pytest.mark.parametrize(
    "scrape", [x for x in captures("metrics") if "live" in x.expected], ids=str
)
def test_gauges_count_once_a_counter_moves(scrape: Capture) -> None:
    metrics = parse_metrics(scrape.text)
    before = Scrape(99.0, {"prompt_tokens_total": 1.0})
    sample, _ = read_metrics(metrics, before, time_s=100.0)
    for field, value in scrape.expected["live"].items():
        assert getattr(sample, field) == value, field


@pytest.mark.parametrize(
    "scrape", [x for x in captures("metrics") if "idle_running" in x.expected], ids=str
)
def test_a23_nothing_moves_for_a_minute(scrape: Capture) -> None:
    metrics = parse_metrics(scrape.text)
    _, first = read_metrics(metrics, None, time_s=100.0)
    sample, _ = read_metrics(metrics, first, time_s=160.0)
    assert sample.is_idle
    assert sample.running_requests == scrape.expected["idle_running"]
    assert sample.tokens_per_s in (None, 0.0)
    assert sample.accept_length is None


@pytest.mark.parametrize("scrape", captures("metrics"), ids=str)
def test_counters_and_histograms(scrape: Capture) -> None:
    expected, metrics = scrape.expected, parse_metrics(scrape.text)
    for name, value in expected["totals"].items():
        assert metrics.total(name) == value
    for name, parts in expected.get("labelled", {}).items():
        for label, word, value in parts:
            assert metrics.total(name, **{label: word}) == value
    ttft = metrics.histogram("time_to_first_token_seconds")
    assert ttft is not None
    if "ttft_count" in expected:
        assert ttft.count == expected["ttft_count"]
    if "ttft_buckets" in expected:
        assert [list(bucket) for bucket in ttft.buckets[:-1]] == expected["ttft_buckets"]


@pytest.mark.parametrize("answer", captures("server_info"), ids=str)
def test_server_info(answer: Capture) -> None:
    expected, info = answer.expected, parse_server_info(answer.text)
    assert (info.version, info.algorithm) == (expected["version"], expected["algorithm"])
    assert info.accept_length == expected["accept_length"]
    if "why" in expected:
        assert info.missing["accept_length"].why == expected["why"]
    assert info.max_total_tokens == expected["max_total_tokens"]
    assert info.max_running_requests == expected["max_running_requests"]
    for key, value in expected["arguments"].items():
        assert info.arguments[key] == value, key
    if "memory" in expected:
        memory = info.memory
        parts = [memory.weight_gb, memory.kv_cache_gb, memory.graph_gb, memory.token_capacity]
        assert parts == expected["memory"]
    if "launch_word" in expected:
        assert expected["launch_word"] in info.launch_argv


def test_server_info_that_is_not_json_is_refused() -> None:
    text = (DATA / "captures" / "server_info" / "eagle-nightly-cut.invalid").read_text("utf-8")
    with pytest.raises(ServerAnswerError, match="not JSON"):
        parse_server_info(text)


@pytest.mark.parametrize("answer", captures("loads"), ids=str)
def test_loads(answer: Capture) -> None:
    expected, loads = answer.expected, parse_loads(answer.text)
    assert (loads.source, loads.version) == (expected["source"], expected["version"])
    assert [rank.running for rank in loads.ranks] == expected["running"]
    assert [rank.waiting for rank in loads.ranks] == expected["waiting"]
    assert [rank.accept_length for rank in loads.ranks] == expected["accept_length"]
    assert [rank.token_capacity for rank in loads.ranks] == expected["capacity"]
    sample = loads_sample(loads, None, time_s=1.0)
    assert sample.is_idle
    assert sample.accept_length is None
    assert "accept_length" in sample.missing


@pytest.mark.parametrize("answer", captures("generate"), ids=str)
def test_meta_info(answer: Capture) -> None:
    counts = read_meta_info(json.loads(answer.text))
    for field, value in answer.expected.items():
        found = getattr(counts, field)
        assert (list(found) if isinstance(found, tuple) else found) == value, field
    assert counts.server_latency_s is not None
    assert (counts.verify_steps is None) is ("verify_steps" in counts.missing)
