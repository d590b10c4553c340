from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.energy import COUNTED, Energy, energy_standing, measure_energy
from specctl.domain.missing import Missing, Why
from specctl.domain.probing import Window, add_up
from specctl.domain.sample import GpuSample, HostSample, Sample
from tests.unit.domain.requests import request


def sample(at_s, *gpus):
    rows = tuple(
        GpuSample(index, f"GPU-{index}", "X", energy_j=joules, power_w=watts,
                  missing={"energy_j": Missing(Why.NOT_SUPPORTED, "no counter")})
        for index, (joules, watts) in enumerate(gpus)
    )  # fmt: skip
    return Sample(at_s, HostSample(), rows, "nvml")


COUNTING = [sample(t, (1000 + 200.0 * t, 999.0), (5e6 + 50.0 * t, 999.0)) for t in range(12)]


def test_counters_are_read_at_the_ends_of_the_window():
    found = measure_energy(COUNTING, (0,), 2.5, 8.5)
    assert found.joules == pytest.approx(1200.0)
    assert found.source == COUNTED
    assert measure_energy(COUNTING, (0, 1), 2.5, 8.5).joules == pytest.approx(1500.0)
    assert measure_energy(list(reversed(COUNTING)), (1,), 2.0, 10.0).joules == pytest.approx(400.0)


def test_without_counters_power_is_integrated_and_why_is_said():
    powers = [sample(t, (None, 100.0 + 10 * t)) for t in range(12)]
    found = measure_energy(powers, (0,), 2.0, 6.0)
    assert found.joules == pytest.approx(4 * 140.0)
    assert found.source == (
        "power readings of every second, integrated; energy counters: not supported: no counter"
    )


def test_a_counter_that_went_back_is_not_used():
    reset = [*COUNTING[:5], *(sample(t, (0.0 + t, 300.0)) for t in range(5, 12))]
    found = measure_energy(reset, (0,), 2.0, 9.0)
    assert "went back" in found.source
    assert found.joules is not None


@pytest.mark.parametrize(
    ("samples", "gpus", "window", "words"),
    [
        (COUNTING, (), (2, 9), "it uses no GPU"),
        (COUNTING, None, (2, 9), "which GPUs the server uses is not known"),
        (COUNTING, (0,), (2, 3), "the window is under 2 s"),
        (COUNTING, (0,), (2, 30), "not sampled through the whole window"),
        ([COUNTING[0], COUNTING[11]], (0,), (2, 9), "not sampled through the whole window"),
        (COUNTING, (7,), (2, 9), "a GPU was not read"),
    ],
)
def test_what_cannot_be_known_says_why(samples, gpus, window, words):
    found = measure_energy(samples, gpus, *window)
    assert found.joules is None
    assert words in str(found.missing)


def result(energy):
    window = Window("s", "p", 1, None, 10.0, energy=energy)
    return add_up(window, [request(completion_tokens=60)], fillers=[request(completion_tokens=40)])


def test_tokens_of_fillers_count_for_the_energy_they_took():
    found = result(Energy(500.0, COUNTED))
    assert (found.energy_j, found.energy_per_token_j) == (500.0, 5.0)
    assert found.energy_source == COUNTED
    none = result(Energy(missing=Missing(Why.NOT_SUPPORTED, "it uses no GPU")))
    assert none.energy_per_token_j is None
    assert str(none.missing["energy_per_token_j"]) == "not supported: it uses no GPU"


def test_two_arms_by_the_means_of_their_launches():
    base = [result(Energy(joules, COUNTED)) for joules in (400.0, 600.0)]
    arm = [result(Energy(250.0, COUNTED)), replace(base[0], energy_per_token_j=None)]
    found = energy_standing(base, arm)
    assert (found.base_j, found.arm_j, found.ratio) == (5.0, 2.5, 0.5)
    assert found.words("base", "eagle") == (
        "energy per output token: eagle 2.5 J, base 5 J, 0.50x; of the servers' GPUs alone"
    )


def test_arms_without_energy_say_why():
    none = result(Energy(missing=Missing(Why.NOT_SUPPORTED, "it uses no GPU")))
    found = energy_standing([none], [none])
    assert found.ratio is None
    assert found.words("a", "b") == ("energy per token: not known (not supported: it uses no GPU)")
    assert energy_standing([], []).missing == "no launch was measured"
