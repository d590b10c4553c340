"""The story's numbers, measured: consequences of costs and acceptance, over several seeds."""

from __future__ import annotations

import copy
import statistics

import pytest

from specctl.domain.cost import break_even_accept_length, expected_accept_length
from specctl.lab.outcomes import StepKind
from specctl.lab.seed import STORIES, USUAL, read_story
from tests.unit.lab.engines import (
    EAGLE,
    FOREIGN,
    NGRAM,
    STORY,
    TRAINED,
    make_engine,
    read_requests,
    run_all,
)

SEEDS = range(4)
REQUESTS = read_requests("mixed")


def measure(setting=None, drafter=None, *, seed=7, boot=1, story=None):
    """The mixed workload, one request after the other, from a cold start."""
    engine = make_engine(setting, drafter=drafter, seed=seed, boot=boot, story=story)
    return run_all(engine, REQUESTS, at_once=False)


def step_ms(run):
    steps = run.of_kind(StepKind.DECODE)
    return 1000 * statistics.mean(step.duration_s for step in steps)


def scale_verification(factor):
    story = copy.deepcopy(STORY)
    for row in story["costs"]["verify_ms"].values():
        for width in row:
            row[width] *= factor
    return story


@pytest.fixture(scope="module")
def baseline():
    return measure()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_foreign_drafter_is_slower_than_no_speculation(seed, baseline):
    run = measure(EAGLE, FOREIGN, seed=seed, boot=seed)
    assert run.accept_length == pytest.approx(1.5, abs=0.1)
    assert run.tokens_per_s == pytest.approx(52, abs=5)
    assert step_ms(run) == pytest.approx(29, abs=1)
    assert run.tokens_per_s < baseline.tokens_per_s


@pytest.mark.parametrize("seed", SEEDS)
def test_ngram_is_slower_still(seed, baseline):
    run = measure(NGRAM, seed=seed, boot=seed)
    assert run.tokens_per_s == pytest.approx(41, abs=5)
    assert run.tokens_per_s < 0.85 * baseline.tokens_per_s
    assert 1.2 < run.accept_length < 1.6


def test_the_baseline_takes_what_is_assumed(baseline):
    assert step_ms(baseline) == pytest.approx(17.1, rel=0.03)
    assert "17.1 ms" in STORY["costs"]["assumptions"]["base_ms"]
    assert baseline.tokens_per_s == pytest.approx(58, abs=2)


def test_a_drafter_of_75_percent_accuracy_wins(baseline):
    run = measure(EAGLE, TRAINED)
    assert run.accept_length == pytest.approx(expected_accept_length(0.75, 3), abs=0.15)
    assert run.tokens_per_s > 1.4 * baseline.tokens_per_s
    star = break_even_accept_length(step_ms(run), step_ms(baseline))
    assert star == pytest.approx(1.69, abs=0.1)
    predicted = run.accept_length / star
    assert run.tokens_per_s / baseline.tokens_per_s == pytest.approx(predicted, rel=0.03)


def test_verification_a_fifth_dearer_moves_both_speeds():
    dear = scale_verification(1.2)
    for setting, drafter, verify_ms in ((EAGLE, FOREIGN, 25.0), (NGRAM, None, 31.3)):
        usual = measure(setting, drafter)
        slow = measure(setting, drafter, story=dear)
        assert slow.accept_length == usual.accept_length
        assert step_ms(slow) - step_ms(usual) == pytest.approx(0.2 * verify_ms, rel=0.05)
        expected = usual.tokens_per_s * step_ms(usual) / step_ms(slow)
        assert slow.tokens_per_s == pytest.approx(expected, rel=0.01)


def test_answers_are_the_same_with_and_without_speculation(baseline):
    assert measure(EAGLE, FOREIGN).outputs == baseline.outputs
    assert measure(NGRAM).outputs == baseline.outputs


def test_launches_differ_a_little():
    speeds = [measure(boot=boot).tokens_per_s for boot in range(5)]
    assert len(set(speeds)) == 5
    assert 0.001 < statistics.stdev(speeds) / statistics.mean(speeds) < 0.02


@pytest.mark.parametrize("name", STORIES)
def test_every_story_says_that_it_is_simulated(name):
    story = read_story(name)
    assert all(
        row["words"].startswith("SIMULATED")
        for part in ("models", "drafters")
        for row in story[part].values()
    )


def test_a_scenario_without_a_story_has_the_usual_one():
    assert read_story("lost-gpu") == read_story(USUAL)
