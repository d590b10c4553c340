from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.kept_output import pack_output
from specctl.domain.pairing import BY_PARTS, BY_WHOLE, pair
from tests.unit.domain.requests import request


def timed(index, tokens, first_s, decode_s, text="t"):
    return request(
        index=index,
        completion_tokens=tokens,
        server_ttft_s=first_s,
        server_latency_s=first_s + decode_s,
        text=text,
        text_sha256=text,
    )


def test_equal_outputs_give_the_ratio_of_the_times():
    base = [timed(0, 101, 0.1, 1.0), timed(1, 51, 0.1, 2.0)]
    arm = [timed(0, 101, 0.2, 0.5), timed(1, 51, 0.2, 0.9)]
    found = pair(base, arm)
    assert found is not None
    assert found.speedup == pytest.approx((1.1 + 2.1) / (0.7 + 1.1))
    assert (found.method, found.identical, found.length_ratio) == (BY_PARTS, 2, 1.0)


def test_stopping_early_is_no_speedup():
    base = [timed(0, 101, 0.0001, 1.0)]
    arm = [timed(0, 51, 0.0001, 0.5)]
    found = pair(base, arm)
    assert found is not None
    assert found.speedup == pytest.approx(1.0, abs=0.001)
    assert found.is_length_suspect


def test_without_first_token_times_the_whole_request_counts():
    base = [request(completion_tokens=100, server_latency_s=2.0)]
    arm = [request(completion_tokens=100, server_latency_s=1.0)]
    found = pair(base, arm)
    assert found is not None
    assert found.method == BY_WHOLE
    assert found.speedup == pytest.approx(2.0)


def test_only_prompts_answered_in_both_arms_count():
    base = [timed(0, 11, 0.1, 1.0), timed(1, 11, 0.1, 9.0)]
    arm = [timed(0, 11, 0.1, 0.5), request(index=1, error="http 503")]
    found = pair(base, arm)
    assert found is not None
    assert found.prompts == 1
    assert found.speedup == pytest.approx(1.1 / 0.6)
    assert pair(base, [request(index=7)]) is None


def test_the_first_divergence_is_shown():
    base = [timed(0, 11, 0.1, 1.0, "same"), timed(1, 11, 0.1, 1.0, "abcdef")]
    arm = [timed(0, 11, 0.1, 1.0, "same"), timed(1, 11, 0.1, 1.0, "abcxyz")]
    found = pair(base, arm)
    assert found is not None
    assert (found.identical, found.first_divergence, found.divergence_at) == (1, 1, 3)
    assert found.token_at is None
    kept = [
        [one, replace(other, output=pack_output(ids, None))]
        for (one, other), ids in ((base, (7, 8, 9)), (arm, (7, 5, 9)))
    ]
    with_ids = pair(*kept)
    assert with_ids is not None
    assert with_ids.token_at == 2
