"""What the lab's model writes."""

from __future__ import annotations

import itertools
import json
from importlib import resources

import pytest

from specctl.domain.ngram.matcher import Matcher
from specctl.domain.ngram.settings import NgramSettings
from specctl.lab.categories import find_category
from specctl.lab.chat import ROLES, render
from specctl.lab.corpus import CATEGORIES
from specctl.lab.seed import read_story
from specctl.lab.text_model import Habit, TextModel
from specctl.lab.tokenizer import load_tokenizer

TOKENIZER = load_tokenizer()
HABITS = {
    name: Habit(**{**habit, "orders": tuple(habit["orders"])})
    for name, habit in read_story("pcie-8")["models"]["kimi-k2.5"]["habits"].items()
}


def read_prompts(workload):
    folder = resources.files("specctl.workloads")
    lines = (folder / f"{workload}.jsonl").read_text(encoding="utf-8").splitlines()[1:]
    return [json.loads(line)["messages"] for line in lines]


def ask(text, *, seed=0, **sampling):
    prompt = TOKENIZER.encode(render([{"role": "user", "content": text}]))
    return TextModel(TOKENIZER, HABITS, seed).start(prompt, **sampling)


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_prompts_of_a_workload_are_taken_for_what_they_are(category):
    found = [find_category(messages[-1]["content"]) for messages in read_prompts(category)]
    assert found == [category] * len(found)


def test_a_prompt_without_cues_is_chat():
    assert find_category("hello there") == "chat"
    assert ask("hello there").category == "chat"


def test_the_last_turn_decides():
    turns = [
        {"role": "user", "content": "Write a poem about an imaginary lift."},
        {"role": "assistant", "content": "Between floors"},
        {"role": "user", "content": "Now solve x^2 - 4 = 0 and show each step."},
    ]
    model = TextModel(TOKENIZER, HABITS)
    assert model.start(TOKENIZER.encode(render(turns))).category == "maths"
    assert {turn["role"] for turn in turns} < set(ROLES)


def test_the_same_prompt_is_answered_alike_and_another_one_is_not():
    first = ask("Give me a packing list.").take(120)
    assert ask("Give me a packing list.").take(120) == first
    assert ask("Give me a packing list!").take(120) != first
    assert ask("Give me a packing list.", seed=1).take(120) != first


def test_looking_ahead_changes_nothing():
    steady, eager = ask("Explain the moon."), ask("Explain the moon.")
    for count in (1, 3, 7, 2, 20):
        ahead = list(eager.look_ahead(30))
        assert ahead[:count] == list(steady.take(count))
        eager.guess_otherwise(5)
        assert list(eager.take(count)) == ahead[:count]


def test_sampling_goes_by_its_seed():
    answers = [
        tuple(ask("Explain the moon.", temperature=0.7, seed=0).take(80)),
        tuple(
            TextModel(TOKENIZER, HABITS)
            .start(TOKENIZER.encode("Explain the moon."), temperature=0.7, seed=number)
            .take(80)
            for number in (1, 1, 2)
        ),
    ]
    first, again, other = answers[1]
    assert first == again
    assert first != other


def test_a_guess_is_never_the_right_token():
    answer = ask("Write a Python function.")
    for ahead, token in enumerate(answer.look_ahead(300)):
        assert answer.guess_otherwise(ahead) != token


@pytest.mark.parametrize("category", CATEGORIES)
def test_answers_end_within_reason(category):
    lengths = []
    for messages in read_prompts(category):
        answer = TextModel(TOKENIZER, HABITS).start(TOKENIZER.encode(render(messages)))
        stream = (token for _ in itertools.count() for token in answer.take(1))
        lengths.append(sum(1 for _ in itertools.takewhile(lambda t: t != TOKENIZER.eos_id, stream)))
    habit = HABITS[category]
    assert all(habit.shortest <= length < habit.longest + 1500 for length in lengths)
    assert len(set(lengths)) > 1


def test_an_answer_goes_on_after_its_end():
    answer = ask("hello there")
    tokens = list(answer.take(2000))
    ends = [place for place, token in enumerate(tokens) if token == TOKENIZER.eos_id]
    assert ends
    assert all(token != TOKENIZER.eos_id for token in tokens[ends[0] + 1 : ends[0] + 20])
    assert len(set(tokens)) > 200


def test_quotes_are_sentences_of_the_prompt():
    text = "The zebra at Qumran sold eleven blue violins. Nobody asked the zebra why it wept."
    written = TOKENIZER.decode(ask(f"Summarise and quote:\n\n{text}").take(400))
    assert "The zebra at Qumran sold eleven blue violins." in written


def test_some_categories_are_more_predictable_than_others():
    """N-gram acceptance of a fresh trie over a workload's answers, one after the other."""

    def measure(category):
        matcher, steps, tokens = Matcher(NgramSettings()), 0, 0
        for number, messages in enumerate(read_prompts(category)):
            prompt = TOKENIZER.encode(render(messages))
            answer = TextModel(TOKENIZER, HABITS).start(prompt)
            text = [*prompt, *answer.take(1)]
            while len(text) < len(prompt) + 200:
                tail = text[-18:]
                tree = matcher.draft(str(number), tail, len(text))
                count = tree.count_accepted(answer.look_ahead(11))
                matcher.insert(tail)
                text += answer.take(count + 1)
                steps, tokens = steps + 1, tokens + count + 1
        return tokens / steps

    lengths = {category: measure(category) for category in CATEGORIES}
    assert lengths["chat"] < 1.35
    assert lengths["novel"] < 1.4
    assert lengths["repetition"] > 2.5
    assert lengths["repetition"] == max(lengths.values())
    assert lengths["chat"] < lengths["code"] < lengths["repetition"]
