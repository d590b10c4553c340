"""Inheritance, overrides and origins."""

from __future__ import annotations

from typing import Any

import pytest

from specctl.domain.host import Host
from specctl.domain.inheritance import Document, Inheritance
from specctl.domain.profile import Corpus, Origin, Placement, Speculation
from specctl.domain.resolve import resolve


def documents(**files):
    return {name: Document(name, f"profiles/{name}.toml", values) for name, values in files.items()}


BASE = {
    "model": "m",
    "arguments": {"tp-size": 8, "enable-metrics": True, "json-model-override-args": {"a": 1}},
    "speculation": {"algorithm": "EAGLE3", "num-steps": 3, "eagle-topk": 1},
    "env": {"A": "1", "B": 2},
    "placement": {"gpus": [0, 1], "port": 1},
    "corpora": [{"name": "c", "path": "/c"}],
}


def resolved(name, files, **options):
    profile, problems = resolve(name, documents(**files), **options)
    assert not problems
    assert profile is not None
    return profile


def test_tables_merge_key_by_key_and_other_values_whole():
    child = {
        "extends": "base",
        "arguments": {"tp-size": 4, "json-model-override-args": {"b": 2}},
        "placement": {"port": 2},
        "corpora": [{"name": "d", "path": "/d"}],
    }
    profile = resolved("child", {"base": BASE, "child": child})
    assert profile.arguments == {
        "tp-size": 4, "enable-metrics": True, "json-model-override-args": {"b": 2},
    }  # fmt: skip
    assert profile.placement == Placement((0, 1), 2)
    assert profile.corpora == (Corpus("d", "/d"),)
    assert profile.environment == {"A": "1", "B": "2"}


def test_the_same_algorithm_merges_and_another_starts_afresh():
    same = {"extends": "base", "speculation": {"algorithm": "EAGLE3", "num-steps": 5}}
    tuned = {"extends": "base", "speculation": {"num-steps": 6}}
    other = {"extends": "base", "speculation": {"algorithm": "NGRAM", "num-draft-tokens": 8}}
    files = {"base": BASE, "same": same, "tuned": tuned, "other": other}
    expected = Speculation("EAGLE3", {"num-steps": 5, "eagle-topk": 1})
    assert resolved("same", files).speculation == expected
    assert resolved("tuned", files).speculation == Speculation(
        "EAGLE3", {"num-steps": 6, "eagle-topk": 1}
    )
    assert resolved("other", files).speculation == Speculation("NGRAM", {"num-draft-tokens": 8})


def test_either_spelling_of_a_flag_overrides_the_other():
    child = {"extends": "base", "arguments": {"tensor-parallel-size": 2}}
    assert resolved("child", {"base": BASE, "child": child}).arguments["tp-size"] == 2


def test_unset_takes_a_key_or_a_table_away():
    child = {"extends": "base", "unset": ["speculation", "arguments.tp-size", "corpora"]}
    profile = resolved("child", {"base": BASE, "child": child})
    assert profile.speculation is None
    assert "tp-size" not in profile.arguments
    assert profile.corpora == ()


def test_unset_of_nothing_is_a_problem_with_the_nearest_key():
    child = {"extends": "base", "unset": ["arguments.tp_size"]}
    _, (problem,) = resolve("child", documents(base=BASE, child=child))
    assert (problem.key, problem.nearest) == ("unset", "arguments.tp-size")


def test_the_overrides_of_a_host_come_last_the_nearest_file_last_of_all():
    host = Host("gpu8")
    base = {**BASE, "on": {"gpu8": {"arguments": {"tp-size": 1}, "placement": {"port": 7}}}}
    child = {
        "extends": "base",
        "arguments": {"tp-size": 4},
        "on": {"gpu8": {"placement": {"port": 8}}, "other": {"model": "x"}},
    }
    files = {"base": base, "child": child}
    profile = resolved("child", files, on=host)
    assert profile.arguments["tp-size"] == 1
    assert profile.placement.port == 8
    assert profile.model == "m"
    assert resolved("child", files).arguments["tp-size"] == 4


def test_every_value_knows_where_it_was_written():
    base = Document(
        "base", "b.toml", {"model": "m", "arguments": {"tp-size": 8}},
        {("model",): 1, ("arguments", "tp-size"): 4},
    )  # fmt: skip
    child = Document(
        "child", "c.toml", {"extends": "base", "on": {"h": {"arguments": {"tp-size": 2}}}},
        {("extends",): 1, ("on", "h", "arguments", "tp-size"): 5},
    )  # fmt: skip
    files = {"base": base, "child": child}
    plain, _ = resolve("child", files)
    on_host, _ = resolve("child", files, on=Host("h"))
    assert plain is not None
    assert on_host is not None
    assert plain.origin("arguments.tp-size") == Origin("b.toml", 4)
    assert on_host.origin("arguments.tp-size") == Origin("c.toml", 5)
    assert str(plain.origin("model")) == "b.toml:1"
    assert plain.origin("ready_timeout_s") is None


@pytest.mark.parametrize(
    ("files", "key", "part", "close"),
    [
        ({"p": {"extends": "p"}}, "extends", "in a circle: p → p", ""),
        (
            {"p": {"extends": "q"}, "q": {"extends": "r"}, "r": {"extends": "q"}},
            "extends",
            "in a circle: q → r → q",
            "",
        ),
        ({"p": {"extends": "base-lin"}, "base-line": {}}, "extends", "no usable", "base-line"),
        ({"p": {}}, "model", "no model", ""),
        ({"p": {"model": "m", "speculation": {"num-steps": 1}}}, "speculation.algorithm", "", ""),
    ],
)
def test_what_cannot_be_resolved_is_one_problem(files, key, part, close):
    profile, (problem,) = resolve("p", documents(**files))
    assert profile is None
    assert (problem.key, problem.nearest) == (key, close)
    assert part in problem.message


def test_secrets_are_kept_apart_from_values():
    values = {
        "model": "m",
        "arguments": {"api-key": "secret:serving", "tp-size": 1},
        "env": {"HF_TOKEN": "secret:hf", "A": "b"},
    }
    profile = resolved("p", {"p": values})
    assert profile.secrets == {"argument:api-key": "serving", "env:HF_TOKEN": "hf"}
    assert profile.arguments == {"tp-size": 1}
    assert profile.environment == {"A": "b"}


def test_workspace_is_expanded_on_this_machine_only():
    values = {
        "model": "{workspace}/m",
        "arguments": {"json-model-override-args": {"a": ["{workspace}"]}},
        "speculation": {"algorithm": "NGRAM"},
    }
    files = documents(p=values)
    local, problems = resolve("p", files, on=Host("l", transport="local"), workspace="/ws")
    assert not problems
    assert local is not None
    assert local.model == "/ws/m"
    assert local.arguments == {"json-model-override-args": {"a": ("/ws",)}}
    plain, _ = resolve("p", files)
    assert plain is not None
    assert plain.model == "{workspace}/m"
    _, problems = resolve("p", files, on=Host("far", ssh="far"), workspace="/ws")
    assert [problem.key for problem in problems] == ["model", "arguments.json-model-override-args"]


@pytest.mark.parametrize(
    ("env", "gpus"),
    [("4,5", (4, 5)), ("0", (0,)), ("GPU-1234", None), ("", None), ("-1", None)],
)
def test_cuda_visible_devices_places_the_server_too(env, gpus):
    profile = resolved("p", {"p": {"model": "m", "env": {"CUDA_VISIBLE_DEVICES": env}}})
    assert profile.placement.gpus == gpus
    assert profile.environment["CUDA_VISIBLE_DEVICES"] == env


class Counted(dict[str, Any]):
    """Values that count how often they were gone through."""

    times = 0

    def items(self):
        self.times += 1
        return super().items()


def chain_of(count, **root):
    """Profiles p0, p1 … that extend one another, each with an argument of its own."""
    files = {"p0": Counted(model="m", arguments={"tp-size": 1}, **root)}
    for number in range(1, count):
        own = {"extends": f"p{number - 1}", "arguments": {"max-running-requests": number}}
        files[f"p{number}"] = Counted(own)
    return documents(**files)


def test_every_file_of_a_chain_is_laid_once_however_deep():
    files = chain_of(3000)
    family = Inheritance(files)
    for number, name in reversed(list(enumerate(files))):
        profile, problems = resolve(name, family)
        assert not problems
        assert profile is not None
        assert profile.arguments == {"tp-size": 1} | (
            {"max-running-requests": number} if number else {}
        )
        assert profile.origins["arguments.tp-size"].file == "profiles/p0.toml"
    assert {document.values.times for document in files.values()} == {1}


def test_what_is_kept_of_a_chain_is_not_changed_by_what_is_made_of_it():
    on = {"h": {"arguments": {"tp-size": 4}}, "l": {"unset": ["arguments.tp-size"]}}
    family = Inheritance(chain_of(2, on=on, env={"A": "{workspace}"}))
    for host, size in ((Host("h", transport="local"), 4), (None, 1), (Host("far"), 1)):
        profile, _ = resolve("p1", family, on=host, workspace="/ws")
        assert profile is None or profile.arguments["tp-size"] == size
    assert [d.name for d in family.of("p1").overriding] == ["p0"]


def test_the_problem_of_a_root_is_that_of_all_above_it():
    family = Inheritance(documents(**{"base": {"model": "m", "unset": ["env.A"]}, **EXTENDING}))
    problems = {resolve(name, family)[1] for name in ("base", "p", "q")}
    assert len(problems) == 1
    missing = Inheritance(documents(**{"base": {"extends": "gone"}, **EXTENDING}))
    (problem,) = {problem for name in "pq" for problem in resolve(name, missing)[1]}
    assert (problem.file, problem.key) == ("profiles/base.toml", "extends")


EXTENDING = {"p": {"extends": "base"}, "q": {"extends": "p"}}


def test_a_long_circle_names_its_beginning_and_each_place_is_the_files_own():
    files = {f"p{number}": {"extends": f"p{(number + 1) % 50}"} for number in range(50)}
    family = Inheritance(documents(**files, q={"extends": "p3"}))
    (problem,) = resolve("q", family)[1]
    words = "p3 → p4 → p5 → p6 → p7 → p8 → p9 → p10 → 42 more → p3"
    assert problem.message == f"profiles extend each other in a circle: {words}"
    assert problem.file == "profiles/p3.toml"
    assert resolve("p49", family)[1][0].file == "profiles/p49.toml"
