"""What first tokens explain of a speedup."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.probing import Window, add_up
from specctl.domain.trial.first_tokens import (
    NOT_TIMED,
    OF_MEASURED,
    OF_STREAMED,
    FirstTokens,
    find_first_tokens,
)
from tests.unit.domain.requests import request


def window(answers, streamed=()):
    return add_up(Window("s", "p", 1, None, 9.0), answers, streamed)


def timed(index, tokens, first_s, decode_s):
    return request(
        index=index, completion_tokens=tokens + 1, server_ttft_s=first_s,
        server_latency_s=first_s + decode_s,
    )  # fmt: skip


def untimed(index, tokens, total_s):
    return request(index=index, completion_tokens=tokens + 1, server_latency_s=total_s)


def streamed(index, tokens, first_s, decode_s):
    return request(
        index=index, completion_tokens=tokens + 1, ttft_s=first_s,
        client_latency_s=first_s + decode_s,
    )  # fmt: skip


def test_equal_first_tokens_give_amdahls_formula():
    found = FirstTokens(1.0, 9.0, 1.0, 4, "")
    assert found.share == pytest.approx(0.1)
    assert found.whole(2.0) == pytest.approx(1 / (0.1 + 0.9 / 2.0))
    first, rest = found.split(2.0, 1.5)
    assert first == pytest.approx(found.whole(2.0) / 2.0 - 1)
    assert (1 + first) * (1 + rest) == pytest.approx(1.5 / 2.0)


def test_decoding_that_is_as_fast_as_predicted_leaves_no_rest():
    base = [window([timed(0, 100, 0.5, 2.0), timed(1, 50, 0.5, 1.0)])]
    arm = [window([timed(0, 100, 0.7, 1.0), timed(1, 50, 0.7, 0.5)])]
    found = find_first_tokens(base, arm)
    assert isinstance(found, FirstTokens)
    assert found.source == OF_MEASURED
    _, rest = found.split(2.0, (1.0 + 3.0) / (1.4 + 1.5))
    assert rest == pytest.approx(0.0)


def test_an_arm_that_stops_early_has_no_fewer_first_tokens():
    base = [window([timed(0, 100, 0.5, 2.0)])]
    short = [window([timed(0, 25, 0.5, 0.5)])]
    found = find_first_tokens(base, short)
    assert isinstance(found, FirstTokens)
    assert found.base_decode_s == pytest.approx(50 * 0.02)


def test_only_prompts_that_every_launch_timed_count():
    base = [window([timed(0, 100, 0.5, 2.0), timed(1, 100, 0.5, 2.0)]),
            window([timed(0, 100, 0.3, 2.0), timed(2, 100, 0.5, 2.0)])]  # fmt: skip
    arm = [window([timed(n, 100, 0.5, 1.0) for n in range(3)])]
    found = find_first_tokens(base, arm)
    assert isinstance(found, FirstTokens)
    assert found.prompts == 1
    assert found.base_first_s == pytest.approx(0.4)


def test_without_the_servers_times_streamed_requests_tell():
    base = [window([untimed(0, 100, 2.5)], [streamed(0, 100, 0.5, 2.0)])]
    arm = [window([untimed(0, 100, 1.5)], [streamed(0, 100, 0.6, 1.0)])]
    found = find_first_tokens(base, arm)
    assert isinstance(found, FirstTokens)
    assert found.source == OF_STREAMED
    assert (found.base_first_s, found.arm_first_s) == (0.5, 0.6)


def test_what_was_not_timed_in_both_arms_is_not_known():
    one = window([untimed(0, 100, 2.5)], [streamed(0, 100, 0.5, 2.0)])
    failed = replace(one, streamed=tuple(replace(r, error="refused") for r in one.streamed))
    assert find_first_tokens([one], [failed]) == NOT_TIMED
    assert find_first_tokens([one], [window([untimed(0, 100, 2.5)])]) == NOT_TIMED
    assert find_first_tokens([], [one]) == NOT_TIMED
