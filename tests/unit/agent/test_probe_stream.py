"""Streams as SGLang's versions and other engines send them."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from specctl.agent.probe_stream import EventReader, StreamRecord

NATIVE = [
    {"text": "a", "meta_info": {"completion_tokens": 1, "finish_reason": None}},
    {"text": "a b c", "meta_info": {"completion_tokens": 4, "finish_reason": None}},
    {
        "text": "a b c d e",
        "meta_info": {"completion_tokens": 6, "finish_reason": {"type": "length"}},
    },
]


def sse(*events: object, end: bytes = b"\n\n") -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + end for event in events)


def record_of(raw: bytes) -> StreamRecord:
    record = StreamRecord()
    record.feed(raw, 1.0)
    record.end(2.0)
    return record


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_events_cut_anywhere_read_the_same(end):
    raw = b": ping" + end + sse({"n": 1}, end=end) + b"event: x" + end[: len(end) // 2]
    raw += b"data:[DONE]" + end
    for cut in range(len(raw) + 1):
        events = EventReader()
        assert events.feed(raw[:cut]) + events.feed(raw[cut:]) == [b'{"n": 1}', b"[DONE]"]


def test_an_event_over_several_data_lines_is_one_payload():
    assert EventReader().feed(b"data: {\ndata: }\n\n") == [b"{\n}"]


def test_last_event_without_blank_line_counts():
    record = record_of(sse(*NATIVE) + b"data: [DONE]")
    assert record.has_ended


def test_d01_a_chunk_of_several_tokens_says_how_many():
    record, clock = StreamRecord(), count(10)
    for event in NATIVE:
        record.feed(sse(event), float(next(clock)))
    record.end(20.0)
    assert record.chunks == [[10.0, 1], [11.0, 3], [12.0, 2]]
    assert record.final == NATIVE[-1]
    assert record.finish_reason() == {"type": "length"}


def test_a_counter_inside_the_text_is_not_the_counter():
    event = {"text": '"completion_tokens": 99', "meta_info": {"completion_tokens": 2}}
    assert record_of(sse(event)).chunks == [[1.0, 2]]


D03 = [
    {"choices": [{"delta": {"role": "assistant", "content": None, "reasoning_content": None}}]},
    {"choices": [{"delta": {"content": None, "reasoning_content": "Okay, the user"}}]},
    {"choices": [{"delta": {"reasoning": " wants"}}]},
    {"choices": [{"delta": {}, "finish_reason": "length"}]},
    {
        "choices": [],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 128,
            "completion_tokens_details": {"reasoning_tokens": 128},
        },
    },
]


def test_d03_reasoning_is_output_like_any_other():
    record = record_of(sse(*D03) + b"data: [DONE]\n\n")
    assert len(record.chunks) == 2
    assert "".join(record.text) == "Okay, the user wants"
    assert record.final is not None
    assert record.final["usage"]["completion_tokens"] == 128
    assert record.finish_reason() == "length"
    assert record.answered_at is None


def test_d03_the_answer_begins_after_the_reasoning():
    record = StreamRecord()
    for now, event in enumerate([*D03[:3], {"choices": [{"delta": {"content": "Yes."}}]}]):
        record.feed(sse(event), float(now))
    record.end(9.0)
    assert [at for at, _ in record.chunks] == [1.0, 2.0, 3.0]
    assert record.answered_at == 3.0


def test_tool_calls_are_output_too():
    call = [{"function": {"arguments": "{}"}}]
    assert len(record_of(sse({"choices": [{"delta": {"tool_calls": call}}]})).chunks) == 1


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"error": {"message": "Rate limit", "type": "server_error", "code": 500}}, "Rate limit"),
        ({"error": "out of memory"}, "out of memory"),
    ],
)
def test_d08_an_error_inside_a_200_stream_is_an_error(event, words):
    assert record_of(sse(NATIVE[0], event) + b"data: [DONE]\n\n").error == words


def test_the_word_error_as_output_is_not_an_error():
    event = {"text": "error", "meta_info": {"completion_tokens": 1, "finish_reason": None}}
    record = record_of(sse(event))
    assert (record.error, record.chunks) == (None, [[1.0, 1]])


@pytest.mark.parametrize("raw", [b'data: {"text": \n\n', b'data: {"choices": [\n\n'])
def test_an_event_that_is_not_json_is_said(raw):
    assert record_of(raw).error == "an event that is not JSON"


STREAMS = Path(__file__).parents[2] / "data/streams"


@pytest.mark.parametrize(
    ("name", "tokens", "most"),
    [
        ("generate-baseline-0.5.2", 48, 2),
        ("generate-ngram-0.5.23", 48, 8),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000, 100_000])
def test_d01_captured_streams_add_up_to_the_servers_count(name, tokens, most, size):
    raw = (STREAMS / f"{name}.sse").read_bytes()
    record = StreamRecord()
    for start in range(0, len(raw), size):
        record.feed(raw[start : start + size], float(start))
    record.end(0.0)
    counts = [new for _, new in record.chunks]
    assert sum(counts) == tokens
    assert max(counts) == most
    assert record.finish_reason() == {"type": "length", "length": 48}
    assert record.has_ended


def test_a_captured_chat_stream_gives_text_and_usage():
    record = record_of((STREAMS / "chat-ngram-0.5.23.sse").read_bytes())
    assert record.final is not None
    assert record.final["usage"]["completion_tokens"] == 48
    assert "".join(record.text).startswith(':\n    """Check the file')
    assert 1 < len(record.chunks) < 48
    assert record.finish_reason() == "length"
