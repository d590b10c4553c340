"""What is sent before the measured prompts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.events import ProbeProgressed
from specctl.domain.open_loop import ArrivalKind, Arrivals
from specctl.domain.probe_json import probe_json
from specctl.domain.probe_rows import probe_rows
from specctl.domain.training import TrainedOn
from tests.unit.services.probing.workloads import workload

if TYPE_CHECKING:
    from specctl.domain.workload import Workload

BEFORE = ("Far away", "Long ago", "Someone")


def training(prompts=BEFORE) -> Workload:
    return replace(workload(prompts), name="others", sha256="1" * 64)


def sent_of(engine, prompts):
    """Which of `prompts` each request was, by its first word; None for another."""
    places = {prompt.text: place for place, prompt in enumerate(prompts)}
    return [places.get(body["text"]) for _, body in engine.asked]


async def test_training_comes_between_each_flush_and_what_is_measured(probe, engine, events):
    flushed_at = []
    engine.before = lambda number: flushed_at.append(engine.flushes)
    result = await probe(training=training())
    assert result.void == ()
    trained = sent_of(engine, training().prompts)
    measured = sent_of(engine, workload().prompts)
    each = [None] * 8
    assert trained == [*[None] * 4, 0, 1, 2, *each, 0, 1, 2, *each]
    assert measured == [*[None] * 7, *range(8), *[None] * 3, *range(8)]
    assert flushed_at == [*[0] * 4, *[1] * 11, *[2] * 11]
    assert [body["stream"] for _, body in engine.asked[:18]] == [False] * 15 + [False] * 3
    words = list(dict.fromkeys(e.words for e in events if isinstance(e, ProbeProgressed)))
    assert words == ["rendering prompts", "warming up", "training", "measuring", "streaming"]


async def test_answers_to_training_count_in_no_figure_and_its_words_say_what_it_was(probe, engine):
    cold, warm = await probe(), await probe(training=training())
    assert {request.index for request in warm.requests} == set(range(8))
    assert len(warm.streamed) == 8
    assert warm.histogram == cold.histogram
    assert sum(request.completion_tokens or 0 for request in warm.requests) == 8 * 24
    assert cold.trained_on is None
    assert warm.trained_on == TrainedOn("others", "1" * 64, 3)
    state = next(row for row in probe_rows(warm) if row.label == "state")
    assert state.value == "warm after others"
    assert state.note == "trained on others, 3 prompts, before each window"
    assert not [row for row in probe_rows(cold) if row.label == "state"]
    assert any("first-token times are of a cache that holds that set" in n for n in warm.notes)
    kept = probe_json(warm)
    assert kept["trained_on"] == {"workload": "others", "sha256": "1" * 64, "prompts": 3}


async def test_beginnings_shared_with_training_are_no_warm_cache(probe):
    same = "The same long beginning of all of them, word for word: {}"
    set_ = training([same.format(start) for start in BEFORE])
    result = await probe(workload([same.format("River")]), training=set_)
    assert result.cached_tokens > 5
    assert result.void == ()


async def test_a_training_request_that_failed_makes_the_window_void(probe, engine):
    engine.fails = lambda number: 503 if number == 5 else None
    result = await probe(training=training())
    assert result.void[0] == "1 of 22 requests failed: http 503 (1)"
    assert [request.error for request in result.requests] == [None] * 8


async def test_training_comes_before_an_open_loop_and_is_not_paced_by_it(probe, engine):
    arrivals = Arrivals(40.0, ArrivalKind.CONSTANT)
    result = await probe(arrivals=arrivals, training=training())
    assert result.void == ()
    trained = sent_of(engine, training().prompts)
    assert set(trained[4:7]) == {0, 1, 2}
    assert set(trained[:4] + trained[7:]) == {None}
    assert [request.due_s for request in result.requests] == list(arrivals.due_s(8))


async def test_a_training_prompt_that_is_measured_is_refused_before_anything_is_sent(probe, engine):
    with pytest.raises(UsageError, match="a training prompt is also measured: 'Seventeen one"):
        await probe(training=training(("Far away", "Seventeen")))
    assert engine.asked == []
