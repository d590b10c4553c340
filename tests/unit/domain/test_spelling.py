"""Keys and values of SGLang's own."""

from __future__ import annotations

import datetime

import pytest

from specctl.domain.nearest import nearest
from specctl.domain.spelling import argument_slip, speculation_slip, value_slip


@pytest.mark.parametrize(
    ("key", "close", "is_warning"),
    [
        ("tp_size", "tp-size", False),
        ("--tp-size", "tp-size", False),
        ("TP-SIZE", "tp-size", False),
        ("tp", "tp-size", False),
        ("mem-fraction", "mem-fraction-static", False),
        ("mem-fraction-statik", "mem-fraction-static", True),
        ("model-path", "", False),
        ("port", "", False),
        ("speculative-num-steps", "", False),
        ("tp-size 2", "", False),
        ("xyzzy-plugh", "", True),
    ],
)
def test_a_wrong_argument_has_a_nearest(key, close, is_warning):
    slip = argument_slip(key)
    assert slip is not None
    assert (slip.nearest, slip.is_warning) == (close, is_warning)


@pytest.mark.parametrize(
    "key",
    ["tp-size", "tensor-parallel-size", "enable-metrics", "cuda-graph-max-bs", "host", "config"],
)
def test_flags_of_this_and_earlier_versions_are_known(key):
    assert argument_slip(key) is None


@pytest.mark.parametrize(
    ("key", "close"),
    [
        ("num_step", "num-steps"),
        ("num_steps", "num-steps"),
        ("speculative-num-steps", "num-steps"),
        ("--speculative-eagle-topk", "eagle-topk"),
        ("draft_model", "draft-model"),
        ("topk", "eagle-topk"),
    ],
)
def test_a_wrong_key_of_speculation_has_a_nearest(key, close):
    slip = speculation_slip(key)
    assert slip is not None
    assert slip.nearest == close


@pytest.mark.parametrize("key", ["num-steps", "ngram-branch-length", "draft-model-path"])
def test_a22_keys_of_earlier_versions_are_kept(key):
    assert speculation_slip(key) is None


@pytest.mark.parametrize(
    ("flag", "value", "part"),
    [
        ("enable-metrics", "true", "is a switch"),
        ("enable-metrics", 1, "is a switch"),
        ("tp-size", True, "takes a value"),
        ("tp-size", [1, 2], "one value"),
        ("lora-paths", [["a"]], "a list holds"),
        ("watchdog-timeout", float("inf"), "no number"),
        ("served-model-name", datetime.date(2026, 1, 1), "a date"),
        ("served-model-name", "a\0b", "NUL"),
    ],
)
def test_a_wrong_value_is_said(flag, value, part):
    slip = value_slip(flag, value)
    assert slip is not None
    assert part in slip.message


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("enable-metrics", False),
        ("lora-paths", ["a=b", {"name": "c"}]),
        ("lora-paths", "a"),
        ("json-model-override-args", {"a": [True, 1]}),
        ("some-new-switch", True),
        ("some-new-list", [1, 2]),
    ],
)
def test_right_values_pass(flag, value):
    assert value_slip(flag, value) is None


def test_nearest_is_empty_rather_than_far():
    assert nearest("zebra", ["tp-size", "host"]) == ""
    assert nearest("Kimi", ["kimi-k2.5-ngram", "llama"]) == "kimi-k2.5-ngram"
