"""No content of a file makes specctl stumble: it is a problem, or it can be used to the end."""

from __future__ import annotations

import shlex

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from specctl.adapters.files import parse_toml
from specctl.adapters.toml_writing import to_toml
from specctl.adapters.validation import problems_of
from specctl.adapters.workspace import Workspace
from specctl.domain.command import parse_argv, server_argv, shell_join
from specctl.domain.contradictions import contradictions
from specctl.domain.host import Host
from specctl.domain.inheritance import Document
from specctl.domain.resolve import resolve

WORDS = st.sampled_from(
    ["m", "", "{workspace}/m", "secret:hf", "<model>", "NGRAM", "EAGLE3", "3", "--x", "p", "q"]
)
SCALARS = WORDS | st.integers(-2, 70000) | st.booleans() | st.floats(-2, 2)
VALUES = st.recursive(
    SCALARS,
    lambda v: st.lists(v, max_size=2) | st.dictionaries(WORDS.filter(bool), v, max_size=2),
    max_leaves=4,
)
FLAGS = ["tp-size", "page-size", "enable-metrics", "lora-paths", "api-key", "config", "host", "new"]
SPECULATION = ["algorithm", "num-steps", "eagle-topk", "num-draft-tokens", "adaptive"]
TABLES = {
    "arguments": st.dictionaries(st.sampled_from(FLAGS), VALUES, max_size=4),
    "speculation": st.dictionaries(st.sampled_from(SPECULATION), SCALARS, max_size=4),
    "env": st.dictionaries(st.sampled_from(["A", "CUDA_VISIBLE_DEVICES"]), SCALARS, max_size=2),
    "placement": st.dictionaries(st.sampled_from(["gpus", "port"]), VALUES, max_size=2),
    "expectation": st.dictionaries(st.sampled_from(["accept_length", "speedup"]), SCALARS),
}
PART = {
    **{name: table | VALUES for name, table in TABLES.items()},
    "model": WORDS | VALUES,
    "ready_timeout_s": SCALARS,
    "corpora": VALUES | st.just([{"name": "a", "path": "b"}]),
    "unset": VALUES | st.just(["arguments.tp-size"]),
}
PROFILES = st.fixed_dictionaries(
    {},
    optional={
        **PART,
        "description": SCALARS,
        "extends": WORDS,
        "baseline": WORDS,
        "on": VALUES | st.fixed_dictionaries({"here": st.fixed_dictionaries({}, optional=PART)}),
        "nonsense": VALUES,
    },
)
HERE = Host("here", transport="local", environment={"B": "1"})

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.integers(-2, 70000)
GOOD_PART = {
    "model": WORDS.filter(bool) | TEXTS.filter(bool),
    "ready_timeout_s": st.integers(1, 9) | st.floats(0.5, 2),
    "arguments": st.fixed_dictionaries(
        {},
        optional={
            "tp-size": NUMBERS | TEXTS,
            "page-size": NUMBERS,
            "enable-metrics": st.booleans(),
            "lora-paths": st.lists(WORDS | NUMBERS | st.dictionaries(WORDS, SCALARS), max_size=2),
            "json-model-override-args": st.dictionaries(TEXTS, VALUES, max_size=2),
            "api-key": WORDS,
            "config": WORDS,
        },
    ),
    "speculation": st.fixed_dictionaries(
        {"algorithm": WORDS},
        optional={"num-steps": NUMBERS, "eagle-topk": NUMBERS, "num-draft-tokens": NUMBERS},
    ),
    "env": st.dictionaries(st.sampled_from(["A", "CUDA_VISIBLE_DEVICES"]), TEXTS | NUMBERS),
    "placement": st.fixed_dictionaries(
        {}, optional={"gpus": st.lists(st.integers(0, 9), min_size=1), "port": st.just(1)}
    ),
    "expectation": st.fixed_dictionaries({}, optional={"speedup": st.floats(0.5, 3)}),
    "corpora": st.just([{"name": "a", "path": "{workspace}/b"}]),
}
GOOD = st.fixed_dictionaries(
    {"model": GOOD_PART["model"]},
    optional={
        **{key: part for key, part in GOOD_PART.items() if key != "model"},
        "baseline": WORDS.filter(bool),
        "extends": st.just("q"),
        "on": st.fixed_dictionaries({"here": st.fixed_dictionaries({}, optional=GOOD_PART)}),
    },
)


def documents(**files):
    found = {}
    for name, values in files.items():
        toml = parse_toml(to_toml(values).encode(), f"{name}.toml")
        problems = problems_of("profile", toml)
        assert all(problem.message and problem.file == f"{name}.toml" for problem in problems)
        if all(problem.is_warning for problem in problems):
            found[name] = Document(name, toml.file, toml.values, toml.lines)
    return found


def use(profile):
    assert all(problem.message for problem in contradictions(profile))
    argv = server_argv(profile, python=["python3"], port=1234)
    assert parse_argv(argv).model == profile.model
    assert parse_argv(argv).port == 1234
    assert shlex.split(shell_join(argv)) == list(argv)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(PROFILES, PROFILES)
@example({"model": "m", "extends": "q"}, {"extends": "p"})
def test_any_profile(first, second):
    files = documents(p=first, q=second)
    for name in files:
        for on in (None, HERE):
            profile, problems = resolve(name, files, on=on, workspace="/ws")
            assert (profile is None) == bool(problems)
            if profile is not None:
                use(profile)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(GOOD, GOOD)
def test_any_profile_of_the_right_shape(first, second):
    second.pop("extends", None)
    files = documents(p=first, q=second)
    for name in files:
        for on in (None, HERE):
            profile, _ = resolve(name, files, on=on, workspace="/ws")
            event("resolved" if profile else "not resolved")
            if profile is not None:
                use(profile)


REMOTE_KEYS = [
    "ssh", "host", "port", "user", "transport", "python", "enter", "env", "state_dir",
    "model_dirs", "hf_home", "gpus", "labels", "read_only", "notes", "nonsense",
]  # fmt: skip


@given(st.dictionaries(st.sampled_from(REMOTE_KEYS), VALUES, max_size=6))
def test_any_remote(values):
    problems = problems_of("remote", parse_toml(to_toml(values).encode(), "r.toml"))
    assert all(problem.message for problem in problems)


@given(st.binary(max_size=60))
def test_any_bytes(data):
    toml = parse_toml(data, "f.toml")
    assert (toml.problem is None) or toml.problem.message
    assert all(problem.message for problem in problems_of("profile", toml))


def test_an_empty_directory_is_an_empty_workspace(tmp_path):
    workspace = Workspace(tmp_path)
    assert (workspace.hosts(), workspace.profiles(), workspace.check()) == ({}, {}, ())
