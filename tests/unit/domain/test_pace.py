from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.pace import (
    Decode,
    find_rate_contradiction,
    peak_tokens_per_s,
    server_decode,
    span_s,
    step_s,
    stream_decode,
    timeline,
    token_gaps,
)
from specctl.domain.percentiles import weighted_percentile
from tests.unit.domain.requests import request, speculated, streamed


def test_d01_a_chunks_gap_is_spread_over_its_tokens():
    one = streamed([(0.1, 1), (0.4, 3), (0.6, 2)])
    assert [tokens for _, tokens in token_gaps(one)] == [3, 2]
    assert [gap_s for gap_s, _ in token_gaps(one)] == pytest.approx([0.1, 0.1])


def test_d01_the_median_is_of_tokens_not_of_chunks():
    one = streamed([(0.0, 1), (0.08, 1), (0.16, 8), (0.24, 8)])
    assert weighted_percentile(token_gaps(one), 50) == pytest.approx(0.01)


def test_d01_a_peak_below_the_mean_is_a_miscount():
    assert find_rate_contradiction(414.75, 111.0) is not None
    assert find_rate_contradiction(414.75, 460.0) is None


arrivals = st.lists(
    st.tuples(st.floats(0.001, 3.0), st.integers(1, 9)), min_size=2, max_size=30
).map(lambda gaps: [(sum(g for g, _ in gaps[: n + 1]), k) for n, (_, k) in enumerate(gaps)])


@given(st.lists(st.tuples(arrivals, st.floats(0, 5)), min_size=1, max_size=4))
def test_d01_the_peak_is_never_below_the_mean(runs):
    requests = [streamed(chunks, began_s=began) for chunks, began in runs]
    pieces = timeline(requests)
    peak = peak_tokens_per_s(pieces)
    assert peak is not None
    tokens = sum(r.completion_tokens or 0 for r in requests)
    assert find_rate_contradiction(tokens / span_s(pieces), peak) is None


def test_peak_finds_the_busy_second():
    one = streamed([(0.0, 1), (1.0, 10), (2.0, 100), (3.0, 10)])
    assert peak_tokens_per_s(timeline([one])) == pytest.approx(100, abs=1)


def test_nothing_streamed_has_no_peak():
    assert peak_tokens_per_s(timeline([request()])) is None


def test_decode_leaves_the_prefill_and_its_token_out():
    one = speculated((0, 10), server_latency_s=1.0, server_ttft_s=0.2)
    assert server_decode(one) == Decode(20, 1.0 - 0.2, 10)
    assert server_decode(request(server_ttft_s=None)) is None
    assert server_decode(request(server_ttft_s=0.1, completion_tokens=1)) is None


def test_decode_of_a_stream_is_first_chunk_to_last():
    one = streamed([(0.5, 1), (1.0, 4), (1.5, 4)], verify_steps=2)
    assert stream_decode(one) == Decode(8, 1.0, 2)
    assert stream_decode(streamed([(0.5, 1)])) is None


def test_step_time_is_per_verify_step_or_per_token():
    decodes = [Decode(30, 1.0, 10), Decode(30, 2.0, 20)]
    assert step_s(decodes, is_speculating=True) == pytest.approx(0.1)
    assert step_s(decodes, is_speculating=False) == pytest.approx(0.05)
    assert step_s([Decode(30, 1.0, None)], is_speculating=True) is None
    assert step_s([], is_speculating=False) is None
