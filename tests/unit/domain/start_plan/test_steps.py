"""Steps beside the launch, and how long they take."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.launch_record import ExitRecord, LaunchRecord, LoadTimes, load_times
from specctl.domain.profile import Corpus
from specctl.domain.server import Milestone
from tests.unit.domain.start_plan.readings import IDENTITY, PROFILE, READING, check, plan


def test_a15_start_after_sigkill_offers_a_soak_and_runs_none():
    killed = LaunchRecord(
        "11110000", IDENTITY, port=30000, started_at_s=5.0, exit=ExitRecord(None, 9, 6.0),
        ready_after_s=0.5,
    )  # fmt: skip
    found = plan(reading=replace(READING, records=(killed,)))
    assert "specctl probe gpu8 --workload soak" in check(found, "soak").next_step
    assert [step.key for step in found.steps] == ["launch", "ready"]
    later = replace(killed, launch_id="2222", started_at_s=9.0, exit=ExitRecord(0, None, 10.0))
    assert all(
        c.name != "soak" for c in plan(reading=replace(READING, records=(killed, later))).checks
    )


def test_after_a_crash_at_the_start_no_soak_is_offered():
    crashed = LaunchRecord(
        "11110000", IDENTITY, port=30000, started_at_s=5.0, exit=ExitRecord(None, 9, 65.0)
    )

    def names(record):
        return {c.name for c in plan(reading=replace(READING, records=(record,))).checks}

    assert "soak" not in names(crashed)
    assert "soak" in names(replace(crashed, stop_asked_at_s=60.0))
    assert "soak" in names(replace(crashed, exit=ExitRecord(None, 9, 9000.0)))  # it was left alone
    assert "soak" in names(replace(crashed, started_at_s=None))


def test_corpora_are_a_step_of_their_own():
    profile = replace(PROFILE, corpora=(Corpus("std", "/srv/std.jsonl"),))
    assert plan(profile).steps[-1].key == "corpora"


def loaded(started, ready, **reached):
    milestones = tuple((Milestone(name), at) for name, at in reached.items())
    return LaunchRecord(
        f"{started}", IDENTITY, profile="kimi-ngram", started_at_s=started, ready_after_s=ready,
        reached=milestones,
    )  # fmt: skip


def test_expected_time_is_the_median_of_the_latest_loads():
    records = (loaded(0, 9000.0), *(loaded(n, 300.0 + n) for n in range(1, 8)))
    times = load_times(records, "kimi-ngram")
    assert times is not None
    assert (times.ready_s, times.loads) == (305.0, 5)
    found = plan(reading=replace(READING, records=records))
    assert found.expected_from == "5 earlier loads here"
    assert found.expected_s == 306.0
    assert load_times(records, "other") is None


def test_time_left_is_what_followed_that_milestone_before():
    times = LoadTimes(300.0, {Milestone.WEIGHTS: 20.0, Milestone.MEMORY_POOL: 250.0})
    assert times.remaining_s(Milestone.LAUNCHED, 10.0, 0.0) == 290.0
    assert times.remaining_s(Milestone.MEMORY_POOL, 410.0, 400.0) == 40.0
    assert times.remaining_s(Milestone.MEMORY_POOL, 900.0, 400.0) == 0.0
