from __future__ import annotations

import json

import pytest

from specctl.domain.errors import ServerAnswerError
from specctl.domain.missing import Why
from specctl.facts.loads import loads_sample, read_loads
from specctl.facts.server_info import PATHS, ServerInfo, parse_server_info, read_server_info
from tests.unit.facts.captures import case


def read(name: str, word: str) -> ServerInfo:
    line = next(line for line in case(name).split("\n") if line.startswith(word))
    return parse_server_info(line[line.index("{") :])


def test_a09_absent_is_neither_zero_nor_off() -> None:
    before, flushed, off = (read("A09", word) for word in ("before", "after", "speculation off"))
    assert before.accept_length == 3.95
    assert flushed.accept_length is None
    assert flushed.missing["accept_length"].why is Why.NO_WINDOW
    assert flushed.last_tokens_per_s == 12.9
    assert off.missing["accept_length"].why is Why.NOT_SPECULATING


def test_a10_both_shapes() -> None:
    old, new = read("A10", "v0.4.4"), read("A10", "v0.5.x")
    assert (old.version, old.accept_length, old.last_tokens_per_s) == ("0.4.4", 3.41, 180.1)
    assert (new.version, new.states) == ("0.5.23", 3)
    assert new.accept_lengths is not None
    assert (new.accept_lengths.lowest, new.accept_lengths.highest) == (1.0, 3.1)
    assert new.accept_lengths.per_rank == (3.1, 1.0, None)
    # verify steps per second: 180.1 / 3.10 and 20.4 / 1.00
    assert new.accept_length == pytest.approx(200.5 / (180.1 / 3.1 + 20.4))
    assert new.last_tokens_per_s == pytest.approx(200.5)


def test_a10_the_new_path_is_tried_first() -> None:
    assert PATHS == ("/server_info", "/get_server_info")


@pytest.mark.parametrize("payload", [None, [], "x", 3, {}, {"detail": "Not Found"}])
def test_other_answers_are_refused(payload: object) -> None:
    with pytest.raises(ServerAnswerError) as caught:
        read_server_info(payload)
    assert caught.value.hint


def test_a_deep_answer_is_refused_not_a_crash() -> None:
    with pytest.raises(ServerAnswerError):
        parse_server_info("[" * 100_000)


def test_running_requests_are_of_all_ranks() -> None:
    state = {"effective_max_running_requests_per_dp": 24}
    info = read_server_info({"model_path": "m", "internal_states": [state, state]})
    assert info.max_running_requests == 48


def test_step_times() -> None:
    state = {"step_time_dict": {"1": [0.01, 0.02, "x"], "y": [1]}}
    info = read_server_info({"model_path": "m", "internal_states": [state]})
    assert info.step_times_s == {1: (0.01, 0.02)}


def test_arguments_are_arguments_only() -> None:
    info = read_server_info({"model_path": "m", "tp_size": 2, "version": "1", "status": "ready"})
    assert info.arguments == {"model_path": "m", "tp_size": 2}


LOADS = {
    "version": "0.5.23",
    "loads": [
        {
            "dp_rank": 0, "timestamp": 10.0, "num_running_reqs": 3, "num_waiting_reqs": 1,
            "token_usage": 0.5, "gen_throughput": 300.0, "speculative": {"accept_length": 3.0},
        },
        {
            "dp_rank": 1, "timestamp": 10.0, "num_running_reqs": 1, "num_waiting_reqs": 0,
            "token_usage": 0.1, "gen_throughput": 100.0, "speculative": {"accept_length": 2.0},
        },
    ],
}  # fmt: skip


def test_loads_add_up_over_ranks() -> None:
    sample = loads_sample(read_loads(LOADS), None, time_s=1.0)
    assert (sample.tokens_per_s, sample.running_requests, sample.queued_requests) == (400.0, 4, 1)
    assert sample.accept_length == pytest.approx(400 / 150)
    assert sample.token_usage == 0.5


def test_loads_that_nobody_published_since_are_stale() -> None:
    loads = read_loads(LOADS)
    sample = loads_sample(loads, loads, time_s=2.0)
    assert sample.tokens_per_s is None
    assert sample.missing["tokens_per_s"].why is Why.STALE
    assert sample.running_requests == 4
    assert sample.has_moved is False
    assert loads_sample(loads, None, time_s=2.0).has_moved is None


def test_the_old_list_counts_waiting_requests_among_all() -> None:
    text = json.dumps([{"dp_rank": 0, "num_reqs": 5, "num_waiting_reqs": 2, "num_tokens": 9}])
    sample = loads_sample(read_loads(json.loads(text)), None, time_s=1.0)
    assert (sample.running_requests, sample.queued_requests) == (3, 2)
    assert sample.missing["tokens_per_s"].why is Why.NOT_SUPPORTED


@pytest.mark.parametrize("payload", [None, {}, [], {"loads": 1}, {"detail": "Not Found"}, [1]])
def test_no_load_report(payload: object) -> None:
    with pytest.raises(ServerAnswerError):
        read_loads(payload)
