from __future__ import annotations

import json

import pytest

from specctl.adapters.workloads import (
    bundled_names,
    lasting_name,
    parse_workload,
    read_bundled,
    read_warm_up,
    read_workload,
)
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.probe import Prompt
from specctl.domain.workload import Rendered, Sampling, refuse_repeated


def parse(*lines: object):
    raw = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return parse_workload(raw.encode(), name="w", file="w.jsonl")


def test_lines_take_what_the_header_says_unless_they_say_it_themselves():
    found = parse(
        {"workload": {"category": "code", "max_tokens": 64, "temperature": 0.7, "top_k": 20}},
        {"prompt": "def f"},
        "",
        {"messages": [{"role": "user", "content": "Hi"}], "category": "chat", "max_tokens": 9},
        {"prompt": "la la", "repeats": True},
    )
    assert found.sampling == Sampling(0.7, None, 20)
    assert found.categories == ("code", "chat")
    assert [p.max_tokens for p in found.prompts] == [64, 9, 64]
    assert found.prompts[1].messages == (("user", "Hi"),)
    assert found.prompts[2].is_repetition_asked
    assert len(found.sha256) == 64


def test_a_header_is_optional():
    (prompt,) = parse({"prompt": "x"}).prompts
    assert (prompt.category, prompt.max_tokens, prompt.is_repetition_asked) == ("all", 128, False)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([], "w.jsonl  holds no prompt"),
        (["{"], "w.jsonl:1  not JSON"),
        (["[1]"], "w.jsonl:1  not a JSON object"),
        (["[" * 100_000], "w.jsonl:1  is nested too deeply"),
        ([{"prompt": "x", "categry": "a"}], "w.jsonl:1  categry: unknown key. Nearest: category"),
        ([{"category": "a"}], "needs either prompt or messages"),
        ([{"prompt": "x", "messages": []}], "needs either prompt or messages"),
        ([{"prompt": ""}], "prompt: must be a text that is not empty"),
        ([{"messages": []}], "messages: must be a list of messages"),
        ([{"messages": [{"role": "me", "content": "x"}]}], "messages.0: must be"),
        ([{"messages": ["x"]}], "messages.0: must be"),
        ([{"prompt": "x", "max_tokens": 0}], "max_tokens: must be a whole number above 0"),
        ([{"prompt": "x", "max_tokens": True}], "max_tokens: must be a whole number above 0"),
        ([{"prompt": "x", "repeats": 1}], "repeats: must be true or false"),
        ([{"workload": {"temperature": -1}}, {"prompt": "x"}], "temperature: must be a number"),
        ([{"workload": {"temprature": 1}}, {"prompt": "x"}], "Nearest: temperature"),
        ([{"prompt": "x"}, {"workload": {}}], "w.jsonl:2  workload: a header comes first"),
        ([{"workload": 5}, {"prompt": "x"}], "workload: a header comes first"),
        ([{"input_ids": [1, 2, 3]}], "acceptance on random ids means nothing"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(lines, expected):
    with pytest.raises(InvalidFileError) as caught:
        parse(*lines)
    assert expected in str(caught.value)


def test_all_problems_come_at_once():
    with pytest.raises(InvalidFileError) as caught:
        parse({"prompt": ""}, "{", {"prompt": "fine"}, {"max_tokens": -1})
    assert [problem.line for problem in caught.value.problems] == [1, 2, 4, 4]


def test_of_a_file_that_is_no_workload_the_first_problems_are_said():
    with pytest.raises(InvalidFileError) as caught:
        parse(*["x"] * 1000)
    assert len(caught.value.problems) == 20
    assert caught.value.hint.startswith("980 more lines")


def test_bundled_sets_are_complete_distinct_and_apart_from_the_warm_up():
    assert set(bundled_names()) == {
        "chat", "code", "maths", "mixed", "novel", "quote", "repetition", "soak", "structured",
        "tiny",
    }  # fmt: skip
    warm_up = [Rendered(p, text=str(p.messages)) for p in read_warm_up().prompts]
    for name in bundled_names():
        workload = read_bundled(name)
        assert len(workload.prompts) >= 8
        assert workload.description
        assert workload.sampling.is_greedy
        prompts = [Rendered(p, text=p.text or str(p.messages)) for p in workload.prompts]
        refuse_repeated(prompts, warm_up)


def test_no_answer_of_the_warm_up_is_longer_than_what_is_measured():
    usual = [prompt.max_tokens for prompt in read_warm_up().prompts]
    short = [prompt.max_tokens for prompt in read_warm_up([Prompt("a", max_tokens=40)]).prompts]
    assert usual == [96] * 4
    assert short == [40] * 4
    assert read_warm_up([Prompt("a", max_tokens=4000)]) == read_warm_up()


def test_a15_a_soak_is_longer_than_what_a_sick_server_survives():
    soak = read_bundled("soak")
    assert len(soak.prompts) > 150
    assert max(prompt.max_tokens for prompt in soak.prompts) <= 32


def test_the_mixed_set_holds_every_category_alike():
    mixed = read_bundled("mixed")
    counts = {c: sum(p.category == c for p in mixed.prompts) for c in mixed.categories}
    assert set(counts.values()) == {4}
    assert len(counts) == 7


def test_only_what_asks_for_repetition_may_repeat():
    assert all(p.is_repetition_asked for p in read_bundled("repetition").prompts)
    assert not any(p.is_repetition_asked for p in read_bundled("novel").prompts)


def test_a_file_is_found_from_here_and_from_the_workspace(tmp_path, monkeypatch):
    (tmp_path / "mine.jsonl").write_text('{"prompt": "x"}\n')
    assert read_workload("mine.jsonl", root=tmp_path).name == "mine"
    monkeypatch.chdir(tmp_path)
    assert read_workload("mine.jsonl").name == "mine"
    assert read_workload("chat").name == "chat"


def test_a_name_that_is_nothing_names_the_nearest(tmp_path):
    with pytest.raises(UsageError) as caught:
        read_workload("strctured", root=tmp_path)
    assert "no workload strctured" in caught.value.message
    assert caught.value.hint == "Nearest: structured."


def test_a_name_that_lasts_means_the_same_from_any_folder(tmp_path, monkeypatch):
    root, elsewhere = tmp_path / "ops", tmp_path / "elsewhere"
    for folder in (root / "sets", elsewhere):
        folder.mkdir(parents=True)
    (root / "sets/short.jsonl").write_text('{"prompt": "one"}\n')
    (elsewhere / "mine.jsonl").write_text('{"prompt": "two"}\n')
    monkeypatch.chdir(root / "sets")
    assert lasting_name("chat", root) == "chat"
    assert lasting_name("short.jsonl", root) == "sets/short.jsonl"
    assert lasting_name("../../elsewhere/mine.jsonl", root) == str(elsewhere / "mine.jsonl")
    monkeypatch.chdir(tmp_path)
    for name in ("sets/short.jsonl", str(elsewhere / "mine.jsonl")):
        assert len(read_workload(name, root=root).prompts) == 1
        assert lasting_name(name, root) == name
