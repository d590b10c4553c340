"""The story of a practice host, step by step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.errors import UsageError
from specctl.domain.events import TrialProgressed
from specctl.domain.state import HostState, State
from specctl.services.outcome import Outcome
from specctl.tui.guide import ANYWHERE, Guide, Moment, Step
from specctl.tui.lab_guide import CLOSE, GUIDES, lab_story
from specctl.tui.settings import read_settings
from tests.tui import parts, plans

LAB = HostState(simulated=True, servers=())


def at(where, host=LAB, plans=(), outcomes=()):
    return Moment(
        where,
        State({"gpu8": HostState(servers=(parts.server(profile="x-baseline"),)), "lab-1": host}),
        {plan.id: plan for plan in plans},
        {outcome.plan_id: outcome for outcome in outcomes},
    )


def with_server(profile):
    return replace(LAB, servers=(parts.server(profile=profile),))


def measured(host, profile, **changes):
    result = replace(plans.probe_result(), profile=profile, **changes)
    return replace(host, results={**host.results, profile: result})


def keys(guide, moment):
    guide.follow(moment)
    return [key for key, _ in guide.hint(moment)]


FAILED = Outcome("crashed", "lab-1", succeeded=False, words="Out of GPU memory.")
STOP = plans.stop_plan()
GONE = Outcome(STOP.id, "lab-1", succeeded=True, words="Gone.")
NAMES = ("baseline", "foreign", "ngram")


def test_it_begins_with_a_look_and_a_start_that_fails():
    guide = Guide(lab_story())
    assert keys(guide, at("fleet")) == ["enter"]
    assert keys(guide, at("host")) == ["S"]
    assert keys(guide, at("source")) == ["esc"]
    assert keys(guide, at("host")) == ["s"]
    assert keys(guide, at("profiles")) == ["crowded", "enter"]
    assert keys(guide, at("planning")) == [""]
    assert keys(guide, at("plan")) == ["enter"]
    assert keys(guide, at("launching")) == [""]
    assert keys(guide, at("launch", outcomes=[FAILED])) == ["esc"]
    assert keys(guide, at("host", outcomes=[FAILED])) == ["s"]


def test_each_profile_is_started_and_measured_in_turn():
    guide, host = Guide(lab_story()[3:-3]), LAB
    for name in NAMES:
        assert keys(guide, at("profiles", host)) == [name, "enter"]
        assert keys(guide, at("plan-cancel", host)) == ["→ enter"]
        host = replace(with_server(f"k-{name}"), results=host.results)
        assert keys(guide, at("launch", host)) == ["H"]
        assert keys(guide, at("host", host)) == ["p"]
        assert keys(guide, at("probe", host)) == ["← ← ← ←", "enter"]
        assert keys(guide, at("probing", host)) == [""]
        assert keys(guide, at("host", measured(host, f"k-{name}", void=("others",)))) == ["p"]
        host = measured(host, f"k-{name}")
        assert keys(guide, at("probed", host)) == ["esc"]
    assert keys(guide, at("host", host)) == []


def test_a_better_drafter_is_tried_until_a_word_is_said():
    guide = Guide(lab_story()[-3:])
    assert keys(guide, at("host")) == ["c"]
    assert keys(guide, at("profiles")) == ["trained", "enter"]
    assert keys(guide, at("trial-plan"))[-1] == "↓ ↓ ↓ ↓ → enter"
    begun = TrialProgressed(
        host="lab-1", time_s=1.0, trial="5c0f", baseline="x-baseline", profile="x-trained", done=0,
        most=16, ratio=None, low=None, high=None, word=None, words="launch 1",
    )  # fmt: skip
    assert keys(guide, at("trial", replace(LAB, trial=begun))) == [""]
    other = replace(begun, profile="x-ngram", word="slower")
    assert keys(guide, at("trial", replace(LAB, trial=other))) == [""]
    decided = replace(LAB, trial=replace(begun, word="faster"))
    assert keys(guide, at("trial", decided)) == ["esc"]
    assert keys(guide, at("host", decided)) == ["x"]


def test_it_ends_with_the_proof():
    guide = Guide(lab_story()[-2:])
    assert keys(guide, at("host")) == ["x"]
    assert keys(guide, at("plan-cancel")) == ["→ enter"]
    assert keys(guide, at("launching", plans=[STOP])) == [""]
    assert keys(guide, at("launch", plans=[STOP], outcomes=[GONE])) == ["esc"]
    assert keys(guide, at("host", plans=[STOP], outcomes=[GONE])) == []
    assert guide.is_over


def test_a_server_on_another_host_is_none_of_the_story():
    guide = Guide(lab_story()[3:4])
    assert keys(guide, at("host")) == ["s"]


def test_hidden_it_says_nothing_more():
    guide = Guide((Step(lambda moment: False, {ANYWHERE: (("x", "does it"),)}),))
    assert keys(guide, at("host")) == ["x"]
    guide.is_dismissed = True
    assert keys(guide, at("host")) == []


def test_no_stage_is_a_dead_end():
    for step in lab_story():
        for stage in (*CLOSE, "host", "fleet"):
            assert step.hint(at(stage))


def test_the_environment_names_a_guide():
    assert read_settings({"SPECCTL_GUIDE": "lab"}).guide == "lab"
    assert not GUIDES["lab"]().is_over
    assert GUIDES[read_settings({}).guide]().is_over
    with pytest.raises(UsageError, match="SPECCTL_GUIDE=tour names no guide"):
        read_settings({"SPECCTL_GUIDE": "tour"})
