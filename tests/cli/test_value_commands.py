"""advise and expect as a user runs them, on a ledger that holds a trial."""

from __future__ import annotations

import json

import pytest

from tests.cli.kept import keep_trial


@pytest.fixture
def trial(home, workspace):
    """The id of a kept trial: 1.3x faster at an accept length of 2."""
    (workspace / "remotes/gpu8.toml").write_text('ssh = "gpu8"\n')
    (workspace / "profiles/base.toml").write_text('model = "m"\n')
    return keep_trial(home)


def write_profile(workspace, **expected):
    lines = "".join(f"{key} = {value}\n" for key, value in expected.items())
    (workspace / "profiles/eagle3.toml").write_text(
        'extends = "base"\nbaseline = "base"\n[speculation]\nalgorithm = "EAGLE3"\n'
        f'draft-model-path = "d"\n[expectation]\n{lines}'
    )


def test_advice_from_a_kept_trial(run, trial, workspace):
    ran = run("advise", trial[:5], "--json", "--adaptive-config", "adaptive.json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/advise/1"
    assert (found["host"], found["baseline"], found["runs"]) == ("gpu8", "base", [trial])
    (draft,) = found["drafts"]
    (row,) = draft["concurrencies"]
    assert [one["is_measured"] for one in row["positions"]] == [True] + [False] * 4
    assert row["positions"][0]["marginal"] == 1.0
    assert row["candidates"][0]["steps"] == 0
    assert row["candidates"][1]["speedup"] == pytest.approx(1.3, abs=0.01)
    config = json.loads((workspace / "adaptive.json").read_text())
    assert row["best"]["steps"] in config["1"]["candidate_steps"]
    assert "start with --speculative-adaptive" in ran.err


def test_advice_in_words(run, trial):
    ran = run("advise", trial)
    assert ran.status == 0, ran.err
    assert "concurrency 1  EAGLE3 (eagle3)" in ran.out
    assert "5 steps, 6 draft tokens: 1.62 to 3.90x, extrapolated" in ran.out
    assert run("advise", "ffff0000").status == 2


@pytest.mark.parametrize("place", ["gpu8", "gpu8/eagle3", "5c0ffee2"])
def test_an_expectation_that_is_met(run, trial, workspace, place):
    write_profile(workspace, accept_length=2.0, speedup=1.25)
    ran = run("expect", place, "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/expect/1"
    assert [(row["figure"], row["met"], row["run"]) for row in found["rows"]] == [
        ("accept_length", "met", trial),
        ("speedup", "met", trial),
    ]


def test_an_expectation_that_is_missed(run, trial, workspace):
    write_profile(workspace, accept_length=2.5, speedup=1.5)
    ran = run("expect", "gpu8")
    assert ran.status == 5
    assert "missed: -20.0%" in ran.out
    assert ran.out.rstrip().endswith("Not met.")
    assert run("expect", "gpu8", "--concurrency", "8").status == 5


def test_where_nothing_is_expected_that_is_said(run, trial, workspace):
    ran = run("expect", "gpu8")
    assert ran.status == 2
    assert "nothing is expected at gpu8: base" in ran.err
    ran = run("expect", "gpu8/other")
    assert (ran.status, ran.out) == (2, "")
    assert "nothing was measured of gpu8/other" in ran.err
