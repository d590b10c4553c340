"""From what the agent measured to results, on answers captured from real servers."""

from __future__ import annotations

import json

import pytest

from specctl.domain.kept_output import Output, unpack_output
from specctl.domain.probe import Prompt
from specctl.domain.probing import Window, add_up
from specctl.domain.workload import Rendered
from specctl.facts.probe_items import read_item
from tests.unit.facts.captures import captures

SENT = Rendered(Prompt(text="def f", category="code"), text="def f")


def answered(body: object, **item):
    return read_item(
        {"index": 0, "latency_s": 0.5, "body": json.dumps(body), **item}, SENT, index=0
    )


@pytest.mark.parametrize("capture", captures("generate"), ids=str)
def test_a06_numbers_equal_the_servers_own(capture):
    meta = json.loads(capture.text)
    result = answered({"text": "x", "meta_info": meta})
    assert result.error is None
    assert result.completion_tokens == meta["completion_tokens"]
    assert result.server_latency_s == meta["e2e_latency"]
    assert result.verify_steps == meta.get("spec_verify_ct")
    algorithm = "NGRAM" if "spec_verify_ct" in meta else None
    summed = add_up(Window("s", None, 1, algorithm, 1.0), [result])
    if algorithm is None:
        assert summed.accept_length is None
        return
    assert summed.accept_length_reported == pytest.approx(meta["spec_accept_length"])
    correct, steps = meta["spec_num_correct_drafts"], meta["spec_verify_ct"]
    assert summed.accept_length == pytest.approx(1 + correct / steps)
    assert summed.histogram == tuple(meta["spec_correct_drafts_histogram"])
    assert summed.notes == ()


def test_the_servers_decode_throughput_follows_from_its_times():
    (capture,) = [c for c in captures("generate") if c.name == "ngram-0.5.23"]
    meta = json.loads(capture.text)
    summed = add_up(Window("s", None, 1, "NGRAM", 1.0), [answered({"meta_info": meta})])
    assert summed.tokens_per_s_per_request == pytest.approx(meta["decode_throughput"], rel=0.001)


def test_d01_chunks_of_several_tokens():
    meta = {"completion_tokens": 6, "finish_reason": {"type": "length"}, "prompt_tokens": 3}
    item = {
        "index": 0,
        "latency_s": 0.7,
        "chunks": [[0.1, 1], [0.4, 3], [0.6, 2]],
        "final": {"text": "a b c d e", "meta_info": meta},
    }
    result = read_item(item, SENT, index=0)
    assert result.ttft_s == 0.1
    assert result.chunk_tokens == (1, 3, 2)
    assert result.chunk_gaps_s == pytest.approx((0.3, 0.2))
    assert result.text == "a b c d e"


def test_d03_reasoning_counts_as_output():
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 128,
        "completion_tokens_details": {"reasoning_tokens": 128},
    }
    item = {
        "index": 0,
        "latency_s": 2.0,
        "chunks": [[0.2, None], [0.4, None]],
        "text": "Okay, the user wants",
        "final": {"usage": usage, "finish_reason": "length"},
    }
    result = read_item(item, SENT, index=0)
    assert (result.error, result.completion_tokens, result.ttft_s) == (None, 128, 0.2)
    assert result.text == "Okay, the user wants"
    assert result.chunk_tokens == ()
    assert (result.finish, result.is_reasoning_only) == ("length", True)
    answered_too = read_item({**item, "first_answer_s": 0.4}, SENT, index=0)
    assert (answered_too.first_answer_s, answered_too.is_reasoning_only) == (0.4, False)


def test_d03_a_whole_chat_answer_counts_its_reasoning():
    message = {"content": None, "reasoning_content": "Hm."}
    details = {"spec_verify_ct": 43, "spec_num_correct_drafts": 63}
    result = answered(
        {
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 106},
            "sglext": {"spec_tokens_details": details},
        }
    )
    assert (result.text, result.finish, result.completion_tokens) == ("Hm.", "stop", 106)
    assert (result.verify_steps, result.correct_drafts) == (43, 63)
    assert result.is_reasoning_only


META = {"completion_tokens": 5, "finish_reason": {"type": "stop"}}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"error": {"message": "too long"}}, "error in answer"),
        ({"meta_info": {**META, "finish_reason": {"type": "abort"}}}, "aborted"),
        ({"meta_info": {**META, "completion_tokens": 0}}, "no output"),
        ({"text": "no counters"}, "malformed"),
        ([1, 2], "malformed"),
        ({"meta_info": META, "text": "x"}, None),
    ],
)
def test_d08_faults_of_answers_with_status_200(body, error):
    assert answered(body).error == error


@pytest.mark.parametrize(
    ("given", "ids"), [([7, 8], (7, 8)), ([7, "x"], None), ([], None), (None, None)]
)
def test_token_ids_are_kept_where_the_server_gives_them(given, ids):
    body = {"meta_info": META, "text": "x y", "output_ids": given}
    assert unpack_output(answered(body).output) == Output(ids, "x y")


def test_the_agents_own_error_comes_first():
    item = {"index": 3, "latency_s": 0.1, "error": "http 503", "detail": "busy"}
    result = read_item(item, SENT, index=3)
    assert (result.error, result.completion_tokens, result.index) == ("http 503", None, 3)


def test_hostile_items_are_survived():
    item = {"index": 0, "body": "{" * 99, "latency_s": "x", "chunks": [7, [1], ["a", "b"]]}
    assert read_item(item, SENT, index=0).error == "malformed"
    assert read_item({"final": {"meta_info": 5}}, SENT, index=0).error == "truncated"
