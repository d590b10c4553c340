from __future__ import annotations

import json

import pytest

from specctl.domain.missing import Why
from specctl.facts.differences import Difference, differences
from specctl.facts.generate import read_meta_info
from tests.unit.facts.captures import case


def fixture(word: str) -> str:
    return next(line for line in case("A06").split("\n") if line.startswith(word))


def test_a06_a_client_zero_is_not_reported() -> None:
    line = fixture("ngram_client_old")
    counts = read_meta_info(json.loads(line[line.index("{") :]))
    assert (counts.verify_steps, counts.accept_length, counts.accept_rate) == (None, None, None)
    assert counts.missing["verify_steps"].why is Why.NOT_SUPPORTED


def test_a06_the_good_record() -> None:
    line = fixture("new_details")
    counts = read_meta_info(json.loads(line[line.index("{") :]))
    assert counts.accept_length == pytest.approx(106 / 43)
    assert counts.accept_rate == pytest.approx(63 / 215)
    assert counts.unbiased_accept_length == pytest.approx(1 + 63 / 43)
    assert counts.histogram is not None
    assert sum(counts.histogram) == counts.verify_steps == 43
    assert sum(k * steps for k, steps in enumerate(counts.histogram)) == counts.correct_drafts


@pytest.mark.parametrize(
    "names",
    [
        ("spec_accept_token_num", "spec_draft_token_num", "spec_accept_histogram"),
        ("spec_accepted_drafts", "spec_proposed_drafts", "spec_accept_histogram"),
        ("spec_num_correct_drafts", "spec_num_proposed_drafts", "spec_correct_drafts_histogram"),
    ],
    ids=["0.5.6", "0.5.11", "0.5.12"],
)
def test_renamed_counters(names: tuple[str, str, str]) -> None:
    counts = read_meta_info({"spec_verify_ct": 4, names[0]: 5, names[1]: 12, names[2]: [1, 1, 2]})
    assert (counts.correct_drafts, counts.proposed_drafts) == (5, 12)
    assert counts.histogram == (1, 1, 2)
    assert counts.missing == {}


def test_the_oldest_versions_report_steps_only() -> None:
    counts = read_meta_info({"spec_verify_ct": 40, "completion_tokens": 100})
    assert counts.accept_length == 2.5
    assert counts.correct_drafts is None
    assert counts.missing["correct_drafts"].why is Why.NOT_SUPPORTED


def test_a_request_that_never_verified() -> None:
    counts = read_meta_info({"spec_verify_ct": 0, "completion_tokens": 1})
    assert counts.verify_steps is None
    assert counts.missing["verify_steps"].why is Why.NO_WINDOW


@pytest.mark.parametrize(
    ("finish", "expected"),
    [({"type": "length", "length": 9}, "length"), ("stop", "stop"), (None, None), ({}, None)],
)
def test_finish(finish: object, expected: str | None) -> None:
    assert read_meta_info({"finish_reason": finish}).finish == expected


RESOLVED = {
    "speculative_algorithm": "EAGLE",
    "speculative_num_steps": 4,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 5,
    "tp_size": 8,
    "api_key": "***",
    "mem_fraction_static": 0.85,
    "enable_metrics": True,
    "attention_backend": "fa3",
}


def test_a03_what_the_server_changed() -> None:
    asked = {
        "speculative-algorithm": "NEXTN",
        "speculative-num-draft-tokens": 24,
        "tp": 8,
        "mem-fraction-static": "0.85",
        "enable-metrics": True,
        "attention-backend": "auto",
        "api-key": "k",
        "not-reported": 3,
    }
    (found,) = differences(asked, RESOLVED)
    assert found == Difference("speculative-num-draft-tokens", 24, 5, found.cause)
    assert "eagle-topk 1" in found.cause


@pytest.mark.parametrize(
    ("asked", "got"),
    [("EAGLE3", "EAGLE"), ("EAGLE", "FROZEN_KV_MTP")],
)
def test_another_algorithm_is_a_difference(asked: str, got: str) -> None:
    (found,) = differences({"speculative-algorithm": asked}, {"speculative_algorithm": got})
    assert (found.asked, found.got) == (asked, got)
