"""Rewrites read from answers of real servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specctl.domain.drift import BuildNow
from specctl.facts.drift import find_rewrites, read_build
from specctl.facts.server_info import parse_server_info

CAPTURES = Path(__file__).parents[2] / "data/captures/server_info"
PYTHON = ("/opt/bin/python", "-m", "sglang.launch_server")


def info(name):
    return parse_server_info((CAPTURES / f"{name}.json").read_text())


def rewrites(argv, name, rules=None):
    found = find_rewrites((*PYTHON, *argv), info(name).arguments, rules)
    return {one.key: (one.asked, one.got, one.rule) for one in found}


def test_a_captured_server_against_its_own_command_line():
    """NGRAM takes its breadth for top-k, and nothing that was asked for is otherwise."""
    found = info("ngram-0.5.23")
    assert rewrites(found.launch_argv, "ngram-0.5.23") == {}
    asked = (*found.launch_argv, "--speculative-eagle-topk", "4")
    assert rewrites(asked, "ngram-0.5.23") == {
        "speculative-eagle-topk": ("4", "10", "NGRAM sets it to its maximum breadth")
    }


def test_a_baseline_against_its_own_command_line():
    found = info("baseline-0.5.23")
    assert rewrites(found.launch_argv, "baseline-0.5.23") == {}


def test_a03_numbers_that_were_rewritten_in_silence_have_their_rule():
    asked = (
        "--speculative-algorithm", "NEXTN", "--speculative-num-steps", "3",
        "--speculative-eagle-topk", "1", "--speculative-num-draft-tokens", "24",
    )  # fmt: skip
    found = rewrites(asked, "eagle-nightly-repaired")
    assert set(found) == {"speculative-num-draft-tokens"}
    asked_text, got, rule = found["speculative-num-draft-tokens"]
    assert (asked_text, got) == ("24", "4")
    assert "chain of num-steps drafts" in rule
    known = rewrites(asked, "eagle-nightly-repaired", {"speculative-num-draft-tokens": "steps + 1"})
    assert known["speculative-num-draft-tokens"][2] == "steps + 1"


def test_json_lists_and_switches_are_compared_as_what_they_are():
    resolved = {
        "cuda_graph_config": {"decode": {"bs": [1, 2]}},
        "cuda_graph_bs_decode": [1, 2],
        "enable_metrics": True,
        "disable_overlap_schedule": False,
        "tp_size": 8,
    }
    same = (
        "--cuda-graph-config", '{"decode": {"bs": [1, 2]}}', "--cuda-graph-bs-decode", "1", "2",
        "--enable-metrics", "--tp", "8",
    )  # fmt: skip
    assert find_rewrites((*PYTHON, *same), resolved) == ()
    other = ("--cuda-graph-bs-decode", "1", "4", "--disable-overlap-schedule", "--tp", "4")
    found = {o.key: (o.asked, o.got) for o in find_rewrites((*PYTHON, *other), resolved)}
    assert found == {
        "cuda-graph-bs-decode": ("1 4", "1 2"),
        "disable-overlap-schedule": ("on", "off"),
        "tp-size": ("4", "8"),
    }


@pytest.mark.parametrize("asked", [(), ("--speculative-accept-threshold-single", "1.0")])
def test_thresholds_that_were_set_while_it_ran(asked):
    (found,) = find_rewrites((*PYTHON, *asked), {"speculative_accept_threshold_single": 0.8})
    assert found.is_at_run_time
    assert (found.asked, found.got) == ("1.0", "0.8")
    assert find_rewrites((*PYTHON, *asked), {"speculative_accept_threshold_single": 1.0}) == ()


def test_remote_text_is_clean_and_short():
    (found,) = find_rewrites((*PYTHON, "--log-level", "info"), {"log_level": "\x1b[2J" + "x" * 999})
    assert "\x1b" not in found.got
    assert len(found.got) <= 120


def test_what_the_agent_says_of_a_tree():
    answer = {"path": "/opt/sglang", "version": "0.5.23", "changed": 2, "examples": ["\x1b[2Ja.py"]}
    assert read_build(answer) == BuildNow("/opt/sglang", "0.5.23", 2, ("a.py",))
    assert read_build(json.loads('{"changed": -1, "examples": 7}')) == BuildNow("")
