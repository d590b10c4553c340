from __future__ import annotations

import pytest

from specctl.domain.server import Milestone
from specctl.facts.log import read_lines
from specctl.facts.milestones import MilestoneTracker
from tests.unit.facts.captures import case

READY = "[2026-06-18 10:00:40] The server is fired up and ready to roll!"


def tracked(*texts: str, launch_id: str | None = None) -> MilestoneTracker:
    tracker = MilestoneTracker(launch_id)
    for line in read_lines(texts):
        tracker.feed(line)
    return tracker


def test_e03_what_follows_the_end_is_not_the_servers() -> None:
    tracker = tracked(*case("E03").split("\n"))
    assert [one.milestone for one in tracker.reached] == [Milestone.LAUNCHED, Milestone.READY]
    assert tracker.reached[-1].time == "2026-06-18 10:00:40"
    assert tracker.is_over


def test_e03_a_new_launch_begins_a_new_history() -> None:
    tracker = tracked("specctl launch 11111111", READY, "specctl launch 22222222")
    assert [one.milestone for one in tracker.reached] == [Milestone.LAUNCHED]


def test_e03_only_the_wanted_launch_counts() -> None:
    texts = ("specctl launch 11111111", READY, "specctl launch 22222222", READY)
    assert tracked(*texts[:2], launch_id="22222222").milestone is None
    assert tracked(*texts, launch_id="22222222").milestone is Milestone.READY
    assert tracked(*texts, launch_id="11111111").milestone is None


def test_a_restart_by_someone_else_in_the_same_file_begins_again() -> None:
    tracker = tracked(READY, "[2026-06-18 11:00:00] server_args=ServerArgs(model_path='x')")
    assert tracker.milestone is Milestone.ARGUMENTS


def test_a_restart_after_a_crash_in_the_same_file_begins_again() -> None:
    arguments = "[2026-06-18 11:00:00] server_args={'model_path': 'x'}"
    weights = "[2026-06-18 11:00:01] Load weight begin. avail mem=9.00 GB"
    tracker = tracked(arguments, weights, arguments, weights)
    assert [one.milestone for one in tracker.reached] == [Milestone.ARGUMENTS, Milestone.WEIGHTS]


@pytest.mark.parametrize(
    "text",
    [
        "[2026-06-18 10:00:40] Receive: text='The server is fired up and ready to roll!'",
        "The prompt said: Load weight begin",
    ],
)
def test_a_prompt_that_quotes_a_milestone_is_none(text: str) -> None:
    assert tracked(text).milestone is None


def test_milestones_never_move_back() -> None:
    old_order = (
        "[2025-01-01 00:00:01] Load weight begin. avail mem=79.00 GB",
        "[2025-01-01 00:00:02] KV Cache is allocated. #tokens: 1, K size: 1 GB, V size: 1 GB",
        "[2025-01-01 00:00:03] Capture cuda graph begin. This can take up to several minutes.",
        "[2025-01-01 00:00:04] Capture cuda graph end. Time elapsed: 1.0 s.",
        "[2025-01-01 00:00:05] Load weight begin. avail mem=9.00 GB",
    )
    tracker = tracked(*old_order)
    assert tracker.milestone is Milestone.GRAPH_CAPTURE
    assert tracker.phase is Milestone.DRAFT_WEIGHTS
    assert [one.milestone for one in tracker.reached][-1] is Milestone.DRAFT_WEIGHTS


def test_nothing_is_reached_after_ready() -> None:
    tracker = tracked(READY, "[2026-06-18 10:00:41] Load weight begin. avail mem=9.00 GB")
    assert [one.milestone for one in tracker.reached] == [Milestone.READY]


def test_eight_ranks_load_once_each() -> None:
    texts = [f"[2026-01-01 00:00:01 TP{n}] Load weight begin. avail mem=79 GB" for n in range(8)]
    assert tracked(*texts).milestone is Milestone.WEIGHTS
    assert tracked(*texts, texts[3]).milestone is Milestone.DRAFT_WEIGHTS


@pytest.mark.parametrize(
    ("bar", "milestone", "fraction", "remaining_s"),
    [
        (
            "Loading safetensors checkpoint shards:  57% Completed | 4/7 [00:05<00:03,  1.31s/it]",
            Milestone.WEIGHTS,
            4 / 7,
            3.0,
        ),
        (
            "Multi-thread loading shards:   0% Completed | 0/62 [00:00<?, ?it/s]",
            Milestone.WEIGHTS,
            0.0,
            None,
        ),
        (
            "Capturing batches (bs=160):  61%|█ | 14/23 [00:16<1:02:03, 1.4it/s]",
            Milestone.GRAPH_CAPTURE,
            14 / 23,
            3723.0,
        ),
    ],
)
def test_progress(
    bar: str, milestone: Milestone, fraction: float, remaining_s: float | None
) -> None:
    progress = tracked(bar).progress
    assert progress is not None
    assert (progress.milestone, progress.fraction) == (milestone, fraction)
    assert progress.remaining_s == remaining_s


@pytest.mark.parametrize(
    "bar", ["Downloading: 10%|# | 1/10 [00:01<00:09]", "shards: 0% Completed | 0/0 [00:00]"]
)
def test_other_bars_are_no_progress(bar: str) -> None:
    assert tracked(bar).progress is None


@pytest.mark.parametrize(
    ("text", "graph"),
    [
        ("Capture cuda graph begin.", "target"),
        ("Capture target verify CUDA graph begin. backend=full", "target"),
        ("Capture draft cuda graph begin.", "draft"),
        ("Capture draft extend CUDA graph end. elapsed=0.54 s", "draft"),
    ],
)
def test_whose_graphs(text: str, graph: str) -> None:
    tracker = tracked(f"[2026-01-01 00:00:01] {text}")
    assert (tracker.milestone, tracker.graph) == (Milestone.GRAPH_CAPTURE, graph)
    assert tracker.is_phase_done is ("end." in text)
