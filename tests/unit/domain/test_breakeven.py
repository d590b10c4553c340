from __future__ import annotations

import pytest

from specctl.domain.breakeven import NO_OVERHEAD, OPTIMISTIC, Typed, curve, work_out
from specctl.domain.errors import UsageError

POCKETLLM_BASE_MS = 27.95
"""PocketLLM issue 79: 4 x 2080 Ti over PCIe."""


@pytest.mark.parametrize(
    ("accept_length", "draft_ms", "verify_ms", "predicted", "measured"),
    [
        (1.792, 7.69, 30.49, 1.312, 1.251),
        (3.762, 39.03, 63.54, 1.025, 0.931),
        (3.955, 40.27, 62.69, 1.074, 0.988),
    ],
)
def test_published_step_times(accept_length, draft_ms, verify_ms, predicted, measured):
    found = work_out(
        Typed(
            base_ms=POCKETLLM_BASE_MS,
            draft_ms=draft_ms,
            verify_ms=verify_ms,
            accept_length=accept_length,
        )
    )
    assert found.predicted_speedup == pytest.approx(predicted, abs=0.001)
    assert found.worth_it is (measured > 1)
    assert NO_OVERHEAD in found.notes


@pytest.mark.parametrize(
    ("accept_length", "base_tps", "spec_tps", "break_even"),
    [(2.64, 1071.3, 1488.4, 1.900), (3.011, 1071.3, 1499.6, 2.151), (2.525, 1071.3, 1491.2, 1.814)],
)
def test_published_rates_of_specbundle(accept_length, base_tps, spec_tps, break_even):
    """SpecForge's SpecBundle, Qwen3-30B-A3B on gsm8k."""
    found = work_out(Typed(base_tps=base_tps, tps=spec_tps, accept_length=accept_length))
    assert found.break_even_accept_length == pytest.approx(break_even, abs=0.002)
    assert found.predicted_tps == pytest.approx(spec_tps)


def test_a_published_row_that_cannot_be_is_flagged():
    """SpecBundle's Llama-4-Scout: faster than its accept length allows."""
    found = work_out(Typed(base_tps=100.0, tps=308.0, accept_length=2.82))
    assert found.break_even_accept_length == pytest.approx(0.916, abs=0.001)
    assert "suspect the baseline" in found.suspects[0]
    assert (found.worth_it, found.unknown) == (None, "the numbers cannot all be true")


@pytest.mark.parametrize(("accuracy", "length"), [(0.38, 1.579), (0.75, 2.734)])
def test_another_drafter_at_the_costs_of_a_measured_one(accuracy, length):
    """52 tok/s at accept length 1.5: a step of 28.8 ms, whoever drafts."""
    found = work_out(Typed(base_tps=45.0, tps=52.0, accept_length=1.5, accuracy=accuracy, steps=3))
    assert found.step_ms == pytest.approx(28.85, abs=0.01)
    assert found.accept_length == pytest.approx(length, abs=0.001)
    assert found.predicted_tps == pytest.approx(length / 28.846 * 1000, abs=0.1)
    assert OPTIMISTIC in found.notes


def test_which_drafter_pays_depends_on_the_baseline():
    def verdict(accuracy, base_tps):
        return work_out(
            Typed(base_tps=base_tps, tps=52.0, accept_length=1.5, accuracy=accuracy, steps=3)
        ).worth_it

    assert (verdict(0.38, 60.0), verdict(0.75, 60.0)) == (False, True)


def test_the_parts_of_a_step_add_up():
    found = work_out(Typed(base_ms=10, draft_ms=3, verify_ms=11, overhead_ms=1, accept_length=2))
    assert found.step_ms == 15
    assert found.predicted_speedup == pytest.approx(4 / 3)
    assert found.notes == ()


def test_what_is_missing_is_named():
    assert work_out(Typed(step_ms=20)).unknown.startswith("no baseline")
    found = work_out(Typed(step_ms=20, base_ms=10))
    assert (found.break_even_accept_length, found.worth_it) == (2.0, None)
    assert found.unknown.startswith("no accept length")


def test_the_accuracy_to_break_even():
    found = work_out(Typed(step_ms=15, base_ms=10, accept_length=2, steps=1))
    assert found.needed_accuracy == pytest.approx(0.5)


@pytest.mark.parametrize(
    "typed",
    [
        Typed(),
        Typed(base_ms=10),
        Typed(step_ms=0, base_ms=10),
        Typed(step_ms=10, tps=5, accept_length=2),
        Typed(draft_ms=10),
        Typed(step_ms=10, overhead_ms=1),
        Typed(tps=50),
        Typed(step_ms=10, base_ms=5, base_tps=200),
        Typed(step_ms=10, accept_length=0.9),
        Typed(step_ms=10, accuracy=0.5),
        Typed(step_ms=10, accuracy=0.5, steps=3, accept_length=2),
        Typed(step_ms=10, overhead_ms=-1),
        Typed(step_ms=10, base_ms=float("nan")),
        Typed(step_ms=float("inf"), base_ms=10),
        Typed(step_ms=10, accept_length=float("nan")),
    ],
)
def test_numbers_that_do_not_go_together_are_refused(typed):
    with pytest.raises(UsageError):
        work_out(typed)


def test_a_curve_rises_with_the_accuracy():
    points = curve(Typed(step_ms=15, base_ms=10, steps=3), accuracies=(0.0, 0.5, 1.0))
    assert [length for _, length, _ in points] == [1.0, 1.875, 4.0]
    assert [speedup for _, _, speedup in points] == pytest.approx([0.667, 1.25, 2.667], abs=0.001)
    with pytest.raises(UsageError, match="steps"):
        curve(Typed(step_ms=15), accuracies=(0.5,))
