from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.events import PlanProgressed
from specctl.domain.server import Milestone
from specctl.services.outcome import Outcome
from specctl.tui.render.launch import (
    awaited,
    draw_excerpt,
    draw_left_behind,
    draw_steps,
    draw_verdict,
    excerpt_lines,
    lasted,
)
from specctl.tui.render.lines import plain, width
from specctl.tui.scene import Progress
from tests.tui import parts, plans
from tests.unit.tui.scenes import scene_of

PLAN = plans.start_plan()
BEGAN_S = parts.NOW_S - 320


def heard(
    step: str, status: str, words: str, after_s: float, left_s: float | None = None
) -> PlanProgressed:
    return PlanProgressed(
        "pro6k-01", BEGAN_S + after_s, PLAN.id, step, status, words, after_s, left_s
    )


EVENTS = [
    heard("stop 7c1e", "begun", "stopping 7c1e", 0),
    heard("stop 7c1e", "done", "ended", 8),
    heard("launch", "begun", "launching", 12),
    heard("launch", "done", "launched", 12.6),
    heard("ready", "begun", "waiting until ready", 12.6, 340),
    heard("ready", "progress", "0:07 arguments", 19.6),
    heard("ready", "progress", "0:12 weights: shard 1 of 62", 24.6),
    heard("ready", "progress", "4:50 memory pool", 302.6),
    heard("ready", "progress", "4:55 graph capture", 307.6, 22),
    heard("ready", "progress", "graph capture, 14 of 51", 320, 22),
]
SCENE = scene_of(EVENTS)


def test_steps_have_their_times_and_phases_lasted_until_the_next() -> None:
    text = plain(draw_steps(SCENE, PLAN, None, 80, 20).body)

    assert "✓  stop the server              0:08" in text
    assert "·  prove that it is gone" in text
    assert "✓  launch                      0.6 s" in text
    assert "◐  wait until ready             5:07" in text
    assert "✓    weights                    4:38  ━━━" in text
    assert "◐    graph capture              0:12" in text
    assert "·    warm-up" in text


def test_words_that_only_begin_like_a_phase_are_none() -> None:
    progress = Progress()
    for event in EVENTS:
        progress.record(event)
    progress.record(heard("ready", "progress", "weights, 12 of 62", 320))

    assert list(progress.reached) == [
        Milestone.ARGUMENTS, Milestone.WEIGHTS, Milestone.MEMORY_POOL, Milestone.GRAPH_CAPTURE,
    ]  # fmt: skip


def test_draft_weights_are_not_taken_for_weights() -> None:
    progress = Progress()
    progress.record(heard("ready", "begun", "waiting", 0))
    progress.record(heard("ready", "progress", "0:05 draft weights", 5))

    assert progress.reached == {Milestone.DRAFT_WEIGHTS: 5.0}


def test_under_way_it_says_how_far_and_how_long_still() -> None:
    drawing = draw_verdict(SCENE, PLAN, None, 100, BEGAN_S)

    assert "graph capture, 14 of 51" in plain(drawing.body)
    assert plain([drawing.summary]) == "5:20  about 20 s left"


def test_without_an_estimate_there_is_no_bar() -> None:
    scene = scene_of(EVENTS[:3])

    assert "━" not in plain(draw_verdict(scene, PLAN, None, 100, BEGAN_S).body)


def test_a_failure_names_cause_and_next_step() -> None:
    outcome = plans.crashed_outcome()
    drawing = draw_verdict(SCENE, PLAN, outcome, 116, BEGAN_S)
    text = plain(drawing.body)

    assert drawing.title == "kimi-k2.5-ngram did not start"
    assert "✗ Out of GPU memory while capturing CUDA graphs, 4:58 after launch" in text
    assert "CAUSE    torch.OutOfMemoryError" in text
    assert "line 826 of its log, TP3" in text
    assert "NEXT     Set mem-fraction-static" in text


@pytest.mark.parametrize(("lasted_s", "words"), [(0.42, "0.4 s"), (1.2, "0:01"), (298, "4:58")])
def test_a_failure_writes_its_times_in_one_way(lasted_s: float, words: str) -> None:
    outcome = replace(plans.crashed_outcome(), elapsed_s=lasted_s, reached=())
    events = [
        heard("ready", "begun", "waiting", 0),
        heard("ready", "progress", "0:00 weights", 0),
        heard("ready", "failed", "crashed", lasted_s),
        replace(heard("ready", "failed", "crashed", lasted_s), is_last=True),
    ]
    scene = scene_of(events)
    steps = draw_steps(scene, PLAN, outcome, 80, 20)

    assert f"{words} after launch" in plain(draw_verdict(scene, PLAN, outcome, 116, 0).body)
    assert plain([steps.summary]) == words
    assert f"wait until ready {words}" in " ".join(plain(steps.body).split())


def test_a_start_that_succeeded_says_where_to_go_on() -> None:
    outcome = Outcome(PLAN.id, "pro6k-01", succeeded=True, words="Ready.")
    started = draw_verdict(SCENE, PLAN, outcome, 100, BEGAN_S)
    stopped = draw_verdict(SCENE, plans.stop_plan(), outcome, 100, BEGAN_S)

    assert plain([started.note]).startswith("H shows it on its host")
    assert stopped.note == []


def test_the_phase_it_failed_in_is_marked() -> None:
    text = plain(draw_steps(SCENE, PLAN, plans.crashed_outcome(), 80, 20).body)

    assert "✗    graph capture" in text
    assert "✓    weights" in text


def test_what_is_left_behind_is_listed() -> None:
    text = plain(draw_left_behind(plans.crashed_outcome(), 54).body)

    assert "Exit status 0: the engine hides its crash." in text
    assert "✓ Gone: 11 of 11 processes" in text


def test_the_log_stands_at_its_first_cause() -> None:
    drawing = draw_excerpt(plans.crashed_outcome(), 116, 8)

    assert drawing.cursor == 5
    assert "826" in plain(drawing.body).splitlines()[5]
    assert plain([drawing.summary]) == "line 826"


def test_an_excerpt_without_its_cause_has_no_numbers() -> None:
    lines, at = excerpt_lines(["a", "b"], None, 80)

    assert at is None
    assert "1" not in plain(lines)


def test_success_is_one_sentence() -> None:
    outcome = Outcome("9b02aa17", "pro6k-01", succeeded=True, words="Ready in 5:32 on port 30000.")

    assert (
        plain(draw_verdict(SCENE, PLAN, outcome, 80, BEGAN_S).body)
        == "✓ Ready in 5:32 on port 30000."
    )


def test_an_error_without_a_cause_still_says_what_and_what_next() -> None:
    outcome = Outcome(
        "9b02aa17", "pro6k-01", succeeded=False, words="lock held by kim", hint="Wait for kim."
    )
    text = plain(draw_verdict(SCENE, PLAN, outcome, 80, BEGAN_S).body)

    assert "✗ lock held by kim" in text
    assert "NEXT     Wait for kim." in text


def test_phases_last_until_the_next_one() -> None:
    reached = {Milestone.ARGUMENTS: 7.0, Milestone.WEIGHTS: 12.0}

    assert lasted(reached, 20.0) == {Milestone.ARGUMENTS: 5.0, Milestone.WEIGHTS: 8.0}
    assert lasted(reached, None)[Milestone.WEIGHTS] is None
    assert lasted({}, 5.0) == {}


@pytest.mark.parametrize(
    ("words", "there", "missing"),
    [
        (("--speculative-algorithm", "NGRAM"), Milestone.NGRAM_BUILD, Milestone.DRAFT_WEIGHTS),
        (("--speculative-draft-model-path", "x"), Milestone.DRAFT_WEIGHTS, Milestone.NGRAM_BUILD),
        (("--disable-cuda-graph",), Milestone.WEIGHTS, Milestone.GRAPH_CAPTURE),
    ],
)
def test_only_phases_this_start_can_reach_are_awaited(
    words: tuple[str, ...], there: Milestone, missing: Milestone
) -> None:
    phases = awaited(replace(PLAN, argv=words))

    assert there in phases
    assert missing not in phases


@pytest.mark.parametrize("cells", [40, 58, 76, 116, 200])
def test_every_panel_fits(cells: int) -> None:
    outcome = plans.crashed_outcome()
    for drawing in (
        draw_verdict(SCENE, PLAN, outcome, cells, BEGAN_S),
        draw_verdict(SCENE, PLAN, None, cells, BEGAN_S),
        draw_steps(SCENE, PLAN, outcome, cells, 12),
        draw_left_behind(outcome, cells),
    ):
        assert all(width(line) <= cells for line in drawing.body)


def test_a_phase_that_the_log_passed_over_is_none_to_come() -> None:
    reached = ((Milestone.WEIGHTS, 1.0), (Milestone.GRAPH_CAPTURE, 3.0))
    loading = Outcome(PLAN.id, PLAN.host, succeeded=False, words="x", reached=reached)
    scene = scene_of([])
    text = plain(draw_steps(scene, PLAN, loading, 80, 20).body)
    assert "n-gram build" in text, "its turn comes after the graphs"
    done = replace(loading, succeeded=True, reached=(*reached, (Milestone.READY, 5.0)))
    text = plain(draw_steps(scene, PLAN, done, 80, 20).body)
    assert "n-gram build" not in text
    assert "·" not in text.partition("weights")[2]
