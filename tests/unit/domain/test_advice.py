from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.advice import (
    FEWER,
    MEASURED,
    MORE,
    Measured,
    adaptive_config,
    advise,
    speculation_stops_paying,
)

GOOD = (0.80, 0.64, 0.51, 0.41, 0.33)


def two_lengths(concurrency=1, base_s=0.010, step_s=0.0015, fixed_s=0.0095):
    return advise(
        concurrency,
        base_s,
        [Measured(n, fixed_s + n * step_s, GOOD[:n]) for n in (3, 5)],
    )


def test_a_step_is_worth_its_marginal_acceptance():
    advice = two_lengths()
    assert [p.place for p in advice.positions if p.value_s > p.cost_s_high] == list(range(1, 9))
    steep = two_lengths(step_s=0.0045)
    worth = [p.place for p in steep.positions if p.value_s > p.cost_s_high]
    assert worth == [1, 2, 3]


def test_two_lengths_say_what_a_step_costs():
    advice = two_lengths()
    by_steps = {one.steps: one for one in advice.candidates}
    assert by_steps[4].source == FEWER
    assert by_steps[4].step_s_low == by_steps[4].step_s_high == pytest.approx(0.0155)
    assert by_steps[4].accept_length == pytest.approx(1 + sum(GOOD[:4]))
    assert (by_steps[3].source, by_steps[6].source) == (MEASURED, MORE)
    assert by_steps[6].accept_length == pytest.approx(1 + sum(GOOD) + GOOD[4] * GOOD[4] / GOOD[3])
    assert by_steps[4].draft_tokens == 5
    assert advice.is_certain


def test_one_length_leaves_a_range():
    advice = advise(1, 0.0171, [Measured(3, 0.029, (0.36, 0.13, 0.05))])
    by_steps = {one.steps: one for one in advice.candidates}
    assert by_steps[1].speedup_low < 1 < by_steps[1].speedup_high
    assert advice.best.steps == 0
    assert not advice.is_certain


def test_ties_go_to_fewer_steps():
    same = advise(
        1, 0.010, [Measured(2, 0.012, (0.5, 0.001)), Measured(4, 0.012, (0.5, 0.001, 0, 0))]
    )
    assert same.best.steps <= 1


def test_off_is_the_best_where_nothing_pays():
    advice = advise(1, 0.010, [Measured(3, 0.030, (0.3, 0.1, 0.0)), Measured(1, 0.025, (0.3,))])
    assert advice.best.steps == 0
    assert advice.best.speedup == 1.0


def test_where_speculation_stops_paying():
    cheap, dear = two_lengths(1), two_lengths(32, fixed_s=0.040)
    assert speculation_stops_paying([dear, cheap]) == 32
    assert speculation_stops_paying([cheap]) is None
    assert speculation_stops_paying([two_lengths(n, fixed_s=0.040) for n in (1, 8)]) == 1
    config = adaptive_config([cheap, dear])
    assert list(config) == ["1", "32"]
    assert 0 in config["32"]["candidate_steps"]  # type: ignore[index]


@given(
    st.integers(1, 8),
    st.floats(0.001, 0.1),
    st.floats(1.0, 6.0),
    st.lists(st.floats(0, 1), min_size=8, max_size=8),
)
def test_no_candidate_is_cheaper_than_a_plain_step(steps, base_s, dear, shares):
    marginals, reached = [], 1.0
    for share in shares[:steps]:
        reached *= share
        marginals.append(reached)
    advice = advise(1, base_s, [Measured(steps, base_s * dear, tuple(marginals))])
    for one in advice.candidates:
        assert one.step_s_low >= base_s * (1 - 1e-12)
        assert one.speedup_low <= one.speedup_high * (1 + 1e-12)
        assert 1 <= one.accept_length <= one.steps + 1 + 1e-9
    assert advice.best.speedup >= 1 - 0.01
