from __future__ import annotations

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.probe import Prompt
from specctl.domain.workload import (
    Rendered,
    Sampling,
    chat_body,
    choose_streamed,
    explained_cached_tokens,
    generate_body,
    refuse_repeated,
    shared_beginning,
)


def text(words: str) -> Rendered:
    return Rendered(Prompt(text=words), text=words)


def ids(*tokens: int) -> Rendered:
    return Rendered(Prompt(messages=(("user", "x"),)), input_ids=tokens)


def test_bodies_are_what_sglang_takes():
    greedy = generate_body(text("Once"), Sampling(), stream=False)
    assert greedy == {
        "text": "Once",
        "sampling_params": {"temperature": 0.0, "max_new_tokens": 128},
        "stream": False,
    }
    sampled = generate_body(ids(1, 2), Sampling(0.7, top_p=0.9, top_k=40), stream=True)
    assert sampled["input_ids"] == [1, 2]
    assert sampled["sampling_params"] == {
        "temperature": 0.7,
        "top_p": 0.9,
        "top_k": 40,
        "max_new_tokens": 128,
    }


def test_end_of_text_is_never_ignored():
    assert "ignore_eos" not in str(generate_body(text("Once"), Sampling(), stream=False))


def test_a_streamed_chat_asks_for_its_usage():
    body = chat_body(Prompt(messages=(("user", "Hi"),)), Sampling(), stream=True)
    assert body["messages"] == [{"role": "user", "content": "Hi"}]
    assert body["stream_options"] == {"include_usage": True, "continuous_usage_stats": True}
    assert "stream_options" not in chat_body(Prompt(), Sampling(), stream=False)


def test_greedy_is_temperature_zero():
    assert Sampling().is_greedy
    assert not Sampling(0.7).is_greedy


def test_with_a_flush_in_between_the_same_prompts_are_streamed():
    prompts = [text(str(n)) for n in range(20)]
    measured, streamed = choose_streamed(prompts, can_flush=True)
    assert (len(measured), streamed) == (20, tuple(prompts[:16]))


@pytest.mark.parametrize("count", [2, 3, 4, 8, 9])
def test_without_a_flush_no_prompt_is_sent_twice(count):
    prompts = [text(str(n)) for n in range(count)]
    measured, streamed = choose_streamed(prompts, can_flush=False)
    assert streamed
    assert measured
    assert sorted(r.text or "" for r in (*measured, *streamed)) == [str(n) for n in range(count)]


def test_a_single_prompt_is_measured_not_streamed():
    assert choose_streamed([text("a")], can_flush=False) == ((text("a"),), ())


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("abcd", "abxd", 2),
        ("abc", "abc", 3),
        ((1, 2, 3), (1, 2), 2),
        ((1, 2), "12", 0),
        ("", "a", 0),
    ],
)
def test_shared_beginning(one, other, expected):
    assert shared_beginning(one, other) == expected


def test_token_ids_explain_exactly_what_they_share():
    assert explained_cached_tokens(ids(1, 2, 3, 4), [ids(9), ids(1, 2, 8)], 4) == 2
    assert explained_cached_tokens(ids(1, 2), [], 2) == 0


def test_of_a_text_the_share_of_characters_is_explained_with_two_tokens_of_grace():
    assert explained_cached_tokens(text("abcdefgh"), [text("abcd----")], 100) == 52
    assert explained_cached_tokens(text("abcdefgh"), [], 100) == 0


def test_prompts_that_would_be_warm_are_refused():
    refuse_repeated([text("a"), text("b")], [text("c")])
    with pytest.raises(UsageError, match="twice"):
        refuse_repeated([text("a"), text("a")], [])
    with pytest.raises(UsageError, match="warm-up prompt is also measured"):
        refuse_repeated([text("a")], [text("a")])
