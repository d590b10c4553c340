from __future__ import annotations

from dataclasses import fields

import pytest

from specctl.domain.pace import CLIENT_CLOCK, SERVER_CLOCK
from specctl.domain.probe import ProbeResult, Void, VoidKind
from specctl.domain.probing import COUNTED, ESTIMATED, Window, add_up, request_accept_length
from tests.unit.domain.requests import request, speculated, streamed

WINDOW = Window("1a2b", "p", 1, "EAGLE3", 10.0, client_cpu_s=0.5)
BASE = Window("1a2b", "p", 1, None, 10.0, client_cpu_s=0.5)


def test_the_two_means_are_kept_apart():
    long, short = speculated((0, 0, 0, 90)), speculated((10, 0, 0, 0), index=1)
    result = add_up(WINDOW, [long, short])
    assert result.accept_length == pytest.approx(1 + 270 / 100)
    assert result.accept_length_per_request == pytest.approx((4 + 1) / 2)
    assert result.accept_length_source == COUNTED


def test_reported_accept_length_reads_high_on_short_outputs():
    one = speculated((0, 0, 1), completion_tokens=4)
    result = add_up(WINDOW, [one])
    assert result.accept_length == 3
    assert result.accept_length_reported == 4


def test_versions_without_counts_of_drafts_give_an_estimate_that_says_so():
    one = request(verify_steps=35, completion_tokens=200)
    result = add_up(WINDOW, [one])
    assert result.accept_length == pytest.approx(199 / 35)
    assert result.accept_length_source == ESTIMATED
    assert result.histogram is None
    assert str(result.missing["histogram"]).startswith("not supported")


def test_uno_emits_two_tokens_of_its_own():
    one = speculated((1, 1))
    assert request_accept_length(one, "UNO") == 2.5
    assert request_accept_length(one, "EAGLE") == 1.5


def test_failed_requests_are_kept_and_counted_in_nothing():
    bad = request(index=1, error="http 503", completion_tokens=None, client_latency_s=9.0)
    result = add_up(BASE, [request(), bad], void=[Void(VoidKind.ARM, "1 of 2 requests failed")])
    assert len(result.requests) == 2
    assert result.tokens_per_s == pytest.approx(5.0)
    assert result.void == ("1 of 2 requests failed",)
    assert result.void_kinds == (VoidKind.ARM,)


def test_server_times_come_before_the_clients():
    timed = speculated((0, 49), server_ttft_s=0.02, server_latency_s=1.0)
    stream = streamed([(0.1, 1), (2.1, 2)], verify_steps=1)
    result = add_up(WINDOW, [timed], [stream])
    assert result.decode_source == SERVER_CLOCK
    assert result.step_s == pytest.approx(0.98 / 49)
    assert add_up(WINDOW, [speculated((0, 49))], [stream]).decode_source == CLIENT_CLOCK
    assert add_up(WINDOW, [speculated((0, 49))], [stream]).step_s == pytest.approx(2.0)


def test_everything_unknown_has_its_reason():
    result = add_up(Window("s", None, 1, "EAGLE", 0.0), [request(error="refused")])
    named = {f.name for f in fields(ProbeResult) if getattr(result, f.name) is None}
    figures = named - {"profile", "peak_tokens_per_s", "loop_lag_p99_s", "open_loop", "forced_by",
                       "trained_on"}  # fmt: skip
    assert figures == set(result.missing)
    assert "tokens_per_s" in figures
    assert "ttft_p95_s" in figures


def test_a_baseline_says_that_speculation_is_off():
    result = add_up(BASE, [request(server_ttft_s=0.02)])
    assert str(result.missing["accept_length"]) == "speculation off"
    assert result.step_s == pytest.approx(0.98 / 49)


def test_counters_that_contradict_each_other_are_noted():
    result = add_up(WINDOW, [speculated((1, 1), correct_drafts=5)])
    assert "the histogram counts 1 accepted drafts, the counter 5" in result.notes


def test_d01_chunks_counted_as_tokens_are_noticed():
    chunks = [(n / 10, 1) for n in range(11)]
    result = add_up(WINDOW, [speculated((0, 9))], [streamed(chunks, completion_tokens=44)])
    assert any("chunks were counted as tokens" in note for note in result.notes)


def test_client_cpu_is_of_the_window():
    assert add_up(WINDOW, [speculated((0, 9))]).client_cpu_percent == pytest.approx(5.0)


def test_figures_over_the_whole():
    result = add_up(WINDOW, [speculated((2, 1, 1))])
    assert result.marginal_acceptance == (0.5, 0.25)
    assert result.conditional_acceptance == (0.5, 0.5)


def test_d03_a_budget_spent_in_reasoning_is_said():
    spent = request(finish="length", is_reasoning_only=True, text="Okay, the user wants")
    result = add_up(BASE, [spent, request(index=1)])
    assert result.tokens_per_s is not None
    assert result.notes[-1].startswith("budget spent in reasoning: 1 of 2 requests")


def test_d03_first_token_and_first_answer_are_told_apart():
    stream = streamed([(0.2, 1), (1.0, 1)], first_answer_s=1.2)
    result = add_up(BASE, [request()], [stream])
    assert result.ttft_p50_s == pytest.approx(0.2)
    assert "the answer itself began after 1.20 s (p50), after its reasoning" in result.notes


def test_d03_without_a_measured_first_token_there_is_none():
    result = add_up(BASE, [request()], [request(ttft_s=None)])
    assert result.ttft_p50_s is None
    assert result.inter_token_p50_s is None
    assert result.missing["ttft_p50_s"].detail
