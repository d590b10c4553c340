from __future__ import annotations

import json

import pytest
from hypothesis import given

from specctl.facts.exchanges import Exchange, read_documents, read_exchanges
from tests.unit.facts.making import json_of, made, many


def read(*values):
    return read_exchanges(json.dumps(value) for value in values)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"prompt_ids": [1, 2], "output_ids": [3]}, Exchange(1, "all", (3,), (1, 2))),
        (
            {"input_ids": [1], "output_ids": [3], "category": "code"},
            Exchange(1, "code", (3,), (1,)),
        ),
        ([3, 4], Exchange(1, "all", (3, 4))),
        ("said", Exchange(1, "all", output="said")),
        ({"prompt": "Ask", "output": "Say"}, Exchange(1, "all", output="Say", prompt="Ask")),
        (
            {"messages": [{"role": "user", "content": "Hi"}], "response": "Hello"},
            Exchange(1, "all", output="Hello", messages=(("user", "Hi"),)),
        ),
        (
            {"prompt": [{"role": "user", "content": "Hi"}], "completion": "Hello"},
            Exchange(1, "all", output="Hello", messages=(("user", "Hi"),)),
        ),
    ],
)
def test_a_line_is_an_exchange(value, expected):
    assert read(value).found == (expected,)


def test_each_turn_of_an_assistant_is_an_answer():
    talk = [("human", "a"), ("gpt", "b"), ("human", "c"), ("gpt", "d")]
    found = read({"conversations": [{"from": who, "value": said} for who, said in talk]}).found
    assert [(one.output, len(one.messages)) for one in found] == [("b", 1), ("d", 3)]
    assert found[1].messages[1] == ("assistant", "b")


def test_a_call_of_a_tool_ends_a_conversation():
    turns = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello"},
        {"role": "assistant", "content": None, "tool_calls": []},
        {"role": "assistant", "content": "after"},
    ]
    assert [one.output for one in read({"messages": turns}).found] == ["Hello"]


def test_prompts_without_answers_are_counted():
    found = read(
        {"workload": {"temperature": 0}}, {"prompt": "Ask"}, {"messages": []}, {"text": "Ask"}, {}
    )
    assert (found.found, found.lines, found.unanswered, found.not_understood) == ((), 4, 3, 1)
    assert found.first_wrong == 5


def test_documents_are_texts_or_ids():
    lines = ['"a text"', "[1, 2]", '{"text": "b"}', "", "nonsense", "[]", '{"other": 1}']
    assert read_documents(lines) == ((1, "a text"), (2, (1, 2)), (3, "b"))


KEYS = ("messages", "prompt", "output", "role", "content", "output_ids", "text")


@given(made(many(json_of(KEYS, leaves=12), 4)))
def test_no_line_breaks_it(values):
    found = read(*values)
    heads = sum(isinstance(value, dict) and "workload" in value for value in values)
    assert found.unanswered + found.not_understood <= found.lines == len(values) - heads
    assert all(one.output_ids or one.output for one in found.found)
