"""Rules that need no host."""

from __future__ import annotations

import pytest

from specctl.domain.contradictions import (
    contradictions,
    looks_like_key,
    masked,
    names_a_secret,
)
from specctl.domain.profile import Expectation, Origin, Placement, Profile


def profile(**fields):
    return Profile(**{"name": "p", "model": "m", "file": "profiles/p.toml", **fields})


def found(**fields):
    return [(problem.key, problem.is_warning) for problem in contradictions(profile(**fields))]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"arguments": {"tp-size": 0}}, [("arguments.tp-size", False)]),
        ({"arguments": {"mem-fraction-static": 1.5}}, [("arguments.mem-fraction-static", False)]),
        ({"arguments": {"nnodes": 2}}, [("arguments.nnodes", False)]),
        (
            {"arguments": {"config": "a.yaml"}, "secrets": {"argument:api-key": "k"}},
            [("arguments.config", False)],
        ),
        (
            {"arguments": {"tp-size": 4}, "placement": Placement(gpus=(0, 1))},
            [("placement.gpus", False)],
        ),
        (
            {"arguments": {"tp-size": 1}, "placement": Placement(gpus=(0, 1))},
            [("placement.gpus", True)],
        ),
        (
            {"arguments": {"tp-size": 2, "dp-size": 2}, "placement": Placement(gpus=(0, 1, 2, 3))},
            [],
        ),
        (
            {
                "arguments": {"tp-size": 4, "dp-size": 4, "enable-dp-attention": True},
                "placement": Placement(gpus=(0, 1, 2, 3)),
            },
            [],
        ),
        (
            {"environment": {"CUDA_VISIBLE_DEVICES": "1"}, "placement": Placement(gpus=(0,))},
            [("env.CUDA_VISIBLE_DEVICES", False)],
        ),
        ({"arguments": {"host": "<host>"}}, [("arguments.host", False)]),
        ({"model": "<model>"}, [("model", False)]),
        ({"arguments": {"api-key": "plain"}}, [("arguments.api-key", False)]),
        ({"environment": {"HF_TOKEN": "plain"}}, [("env.HF_TOKEN", False)]),
        (
            {"environment": {"X": "hf_abcdefghijklmnopqrstuvwx"}},
            [("env.X", False)],
        ),
        ({"expectation": Expectation(accept_length=2.0)}, [("expectation.accept_length", True)]),
        ({"expectation": Expectation(speedup=1.2)}, [("expectation.speedup", True)]),
        ({"baseline": "p"}, [("baseline", False)]),
    ],
)
def test_the_rest(fields, expected):
    assert found(**fields) == expected


def test_a_problem_is_at_the_line_of_its_value():
    (problem,) = contradictions(
        profile(arguments={"nnodes": 2}, origins={"arguments.nnodes": Origin("base.toml", 7)})
    )
    assert (problem.file, problem.line) == ("base.toml", 7)


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("api-key", True), ("admin-api-key", True), ("HF_TOKEN", True), ("DB_PASSWORD", True),
        ("ssl-keyfile-password", True), ("OPENAI_API_KEY", True), ("tokenizer-path", False),
        ("max-total-tokens", False), ("speculative-token-map", False), ("ssl-keyfile", False),
        ("TOKENIZERS_PARALLELISM", False),
    ],
)  # fmt: skip
def test_names_of_secrets(name, is_secret):
    assert names_a_secret(name) is is_secret


def test_keys_are_known_by_their_shape_and_blotted_out():
    assert looks_like_key("Bearer sk-abcdefghijklmnopqrst")
    assert not looks_like_key("risk-assessment-of-the-model-x")
    assert not looks_like_key("hf_model")
    text = masked("curl -H 'Authorization: Bearer abc' --api-key hush HF_TOKEN=x --port 1")
    assert "abc" not in text
    assert "hush" not in text
    assert text.endswith("HF_TOKEN=… --port 1")
