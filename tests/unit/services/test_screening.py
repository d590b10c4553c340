"""A screening launch by launch, with arms that need no host."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import pytest

from specctl.adapters.ledger import Ledger
from specctl.domain.comparison import Arm
from specctl.domain.probe import Prompt
from specctl.domain.profile import Profile
from specctl.domain.runs import Provenance
from specctl.domain.state import Store
from specctl.domain.training import TrainedOn
from specctl.domain.trial.screening_json import screening_block_json
from specctl.domain.trial.screening_running import stand_screening
from specctl.domain.workload import Workload
from specctl.services import screening
from specctl.services.launch import recipe_hash
from specctl.services.probing import Settings
from specctl.services.screening import ScreeningRun
from specctl.services.screening_keeping import entry_of, resumable_screening
from specctl.services.screening_plan import ScreeningProposal, confirming
from specctl.services.trial_plan import find_changed
from tests.unit.domain.trial.runs import NOW_S, result
from tests.unit.domain.trial.screenings import SPEEDUPS, STEPS, screened, screening_plan

LAUNCH_S = 100.0


@dataclass
class Clock:
    seconds: float = 0.0

    def now(self) -> float:
        return NOW_S + self.seconds

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def ledger(tmp_path):
    with closing(Ledger(tmp_path / "ledger.db")) as ledger:
        yield ledger


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()

    async def run_arm(_bench, profile):
        clock.seconds += LAUNCH_S
        side = "A" if profile.name == "base" else "B"
        measured = result(side, speedup=SPEEDUPS[profile.name])
        return Arm(profile.name, result=measured, steps=STEPS.get(profile.name))

    monkeypatch.setattr(screening, "run_arm", run_arm)
    return clock


def run_with(clock, ledger, budget_s, blocks=()):
    """The screening, how it ended, and its launches as the ledger has them."""
    plan = screening_plan()
    ledger.add(entry_of(plan, Provenance("1", "op", plan.host), clock))
    for block in blocks:
        ledger.add_block(plan.id, screening_block_json(block))
    profiles = tuple(Profile(name, "m") for name in plan.arms)
    settings: Any = ("settings",)
    nothing: Any = None
    proposal = ScreeningProposal(plan, profiles, settings, (), (), None)
    run = ScreeningRun(
        nothing,
        proposal,
        secrets=nothing,
        store=Store(),
        clock=clock,
        ledger=ledger,
        budget_s=budget_s,
    )
    ended = asyncio.run(run.run())
    return run, ended, ledger.blocks(plan.id)


def test_without_a_budget_all_rounds_are_made_and_each_launch_is_kept(clock, ledger):
    run, ended, kept = run_with(clock, ledger, None)
    standing = stand_screening(run.plan, run.blocks)
    assert (ended, standing.rounds, standing.survivor) == ("", 3, "two")
    assert len(kept) == len(run.blocks) < run.plan.most_launches
    assert run.has_time_for_trial()


def test_a_round_that_would_take_the_time_of_the_trial_is_not_begun(clock, ledger):
    run, ended, _ = run_with(clock, ledger, LAUNCH_S * (5 + 7))
    standing = stand_screening(run.plan, run.blocks)
    assert (ended, standing.rounds) == ("", 1)
    assert standing.next is not None
    assert run.has_time_for_trial()


def test_a_budget_too_small_for_the_trial_is_spent_on_the_ranking(clock, ledger):
    run, ended, _ = run_with(clock, ledger, LAUNCH_S * 9)
    assert stand_screening(run.plan, run.blocks).rounds == 2
    assert "leaves no time for the trial" in ended
    assert not run.has_time_for_trial()


def test_it_goes_on_from_what_is_kept(clock, ledger):
    _, blocks = screened(most=7)
    run, _, kept = run_with(clock, ledger, None, blocks)
    assert len(run.blocks) == len(kept) > 7
    assert kept[7]["round"] == 1


def test_an_open_round_of_over_an_hour_ago_is_redone_whole_and_complete_ones_stay():
    plan, blocks = screened(most=7)
    soon = blocks[-1].ended_s + 60
    assert resumable_screening(plan, tuple(blocks), soon) == tuple(blocks)
    late = resumable_screening(plan, tuple(blocks), soon + 3600)
    assert late[:5] == tuple(blocks[:5])
    assert [one.failure for one in late[5:]] == ["the screening paused for over an hour"] * 2
    following = stand_screening(plan, late).next
    assert following is not None
    assert (following.round, following.attempt, following.arm) == (1, 1, blocks[5].arm)
    whole = tuple(blocks[:5])
    assert resumable_screening(plan, whole, soon + 9999) == whole
    done = screened(replace(plan, rounds=1))[1]
    assert resumable_screening(replace(plan, rounds=1), tuple(done), soon + 9999) == tuple(done)


def test_the_trial_that_confirms_has_the_training_of_the_screening(clock, ledger):
    others = TrainedOn("others", "1" * 64, 12)
    plan = screening_plan(trained_on=others, training_source="sets/others.jsonl")
    profiles = tuple(Profile(name, "m") for name in plan.arms)
    settings = Settings(
        Workload("mixed", (), plan.workload_sha256),
        training=Workload("others", (Prompt(text="x"),) * 12, others.sha256),
    )
    proposal = ScreeningProposal(plan, profiles, (settings,), (), (), None)
    assert any("trained on others, 12 prompts, before each" in words for words in proposal.words)
    trial = confirming(proposal, "two", clock=clock, ledger=ledger).plan
    assert (trial.trained_on, trial.training_source) == (others, "sets/others.jsonl")
    plan = replace(plan, recipes=tuple(map(recipe_hash, profiles)))
    assert find_changed(plan, profiles, settings) is None
    assert settings.training is not None
    shorter = replace(settings, training=replace(settings.training, prompts=(Prompt(text="x"),)))
    for changed in (shorter, replace(settings, training=None)):
        assert find_changed(plan, profiles, changed) == "the training set sets/others.jsonl"
