"""The seed's story, measured by specctl on practice hosts: a consequence of their costs alone."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.up import take_down
from tests.lab.practice import Practice
from tests.ssh.sshd import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = [pytest.mark.soak, pytest.mark.timeout(500)]

WITHIN = 0.05
VERIFY_MS = {"foreign": 25.0, "ngram": 31.3}
"""Of the tokens that each verifies: 4 and 12."""

SLOWER = 1.2


@dataclass(frozen=True)
class Measurement:
    """One profile on one host, side by side with the others."""

    profile: str
    prompts: int
    verify_factor: float = 1.0


MEASUREMENTS = {
    "baseline": Measurement("lab-baseline", 4),
    "trained": Measurement("lab-eagle3-trained", 4),
    "foreign": Measurement("lab-eagle3-foreign", 14),
    "ngram": Measurement("lab-ngram", 14),
    "foreign, slower": Measurement("lab-eagle3-foreign", 7, SLOWER),
    "ngram, slower": Measurement("lab-ngram", 7, SLOWER),
}


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    made = Practice(tmp_path_factory.mktemp("story"))
    made.up("--hosts", str(len(MEASUREMENTS)))
    try:
        yield made
    finally:
        take_down(made.lab)


@pytest.fixture(scope="module")
def measured(practice: Practice) -> Mapping[str, Any]:
    """What `specctl probe` printed of each, all of them at the same time."""
    hosts = [f"lab-{number}" for number in range(1, len(MEASUREMENTS) + 1)]
    with ThreadPoolExecutor(len(hosts)) as threads:
        results = threads.map(partial(measure, practice), hosts, MEASUREMENTS.values())
        return dict(zip(MEASUREMENTS, results, strict=True))


def measure(practice: Practice, host: str, wanted: Measurement) -> Any:
    path = practice.host(host).folder / "scenario.json"
    scenario = json.loads(path.read_text())
    for row in scenario["costs"]["verify_ms"].values():
        for width in row:
            row[width] *= wanted.verify_factor
    path.write_text(json.dumps(scenario))
    port = ("--port", str(free_port()))
    started = practice.run("start", host, wanted.profile, *port, "--yes", timeout_s=120)
    assert started.status == 0, started.err
    ran = practice.run("probe", host, "--prompts", str(wanted.prompts), "--json", timeout_s=400)
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["simulated"] is True
    assert found["void"] == []
    return found


def rate(result: Mapping[str, Any]) -> float:
    """What one user sees, tokens per second."""
    return float(result["tokens_per_s_per_request"])


def test_the_foreign_drafter_comes_to_accept_length_1_5_and_52_tokens(measured):
    assert measured["foreign"]["accept_length"] == pytest.approx(1.5, abs=0.1)
    assert rate(measured["foreign"]) == pytest.approx(52, rel=WITHIN)


def test_n_grams_come_to_41_tokens(measured):
    assert rate(measured["ngram"]) == pytest.approx(41, rel=WITHIN)


def test_both_are_under_the_baseline_and_a_trained_drafter_wins(measured):
    baseline = rate(measured["baseline"])
    assert measured["baseline"]["step_s"] == pytest.approx(0.0171, rel=WITHIN)
    assert rate(measured["ngram"]) < rate(measured["foreign"]) < baseline
    assert rate(measured["trained"]) > 1.2 * baseline


@pytest.mark.parametrize("name", VERIFY_MS)
def test_a_fifth_more_for_verifying_moves_the_speed_accordingly(measured, name):
    """Each step takes that much longer and brings the same, so the rate falls by the quotient."""
    usual, slower = measured[name], measured[f"{name}, slower"]
    more_s = slower["step_s"] - usual["step_s"]
    assert more_s == pytest.approx((SLOWER - 1) * VERIFY_MS[name] / 1000, rel=0.15)
    expected = rate_of_first(usual, 7) * usual["step_s"] / slower["step_s"]
    assert rate_of_first(slower, 7) == pytest.approx(expected, rel=WITHIN)


def rate_of_first(result: Mapping[str, Any], count: int) -> float:
    """Decoded tokens per second of the first requests, which are the same in every window."""
    requests = result["requests"][:count]
    seconds = sum(one["server_latency_s"] - one["server_ttft_s"] for one in requests)
    return float(sum(one["completion_tokens"] - 1 for one in requests) / seconds)


def test_exactly_252_positions_of_the_draft_vocabularies_agree(practice):
    trained = str(practice.lab.models / "kimi-k2.5-eagle3")
    words = ("checkpoint", "lab-1", "--profile", "lab-eagle3-foreign", "--against", trained)
    ran = practice.run(*words, "--json")
    agreement = json.loads(ran.out)["agreement"]
    assert (agreement["positions"], agreement["of"]) == (252, 32_000)
