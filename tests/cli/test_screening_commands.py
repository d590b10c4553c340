"""compare with several candidates and over a grid, against a stand-in engine."""

from __future__ import annotations

import json
import re
import signal
import sqlite3

import pytest

from tests.cli.test_trial_commands import here, paced, port, python, start, trial_of

__all__ = ["here", "paced", "port", "python", "start"]
WORKLOAD = ("--workload", "mine.jsonl")
SCREEN = ("here", "base", "eagle", "slow", *WORKLOAD, "--launches", "2", "--yes")


@pytest.fixture
def several(paced):
    """Beside base and eagle, one that is far behind."""
    (paced / "profiles/slow.toml").write_text('extends = "eagle"\n[env]\nFAKE_STEP_S = "0.06"\n')
    return paced


def screening_of(err):
    found = re.search(r"screening ([0-9a-f]{8});", err)
    assert found, err
    return found[1]


@pytest.mark.timeout(240)
def test_who_lags_leaves_and_the_rest_is_tried_afresh_also_after_ctrl_c(run, start, several):
    started = start("compare", *SCREEN)
    started.wait_for("round 1: eagle")
    started.process.send_signal(signal.SIGINT)
    status, _, err = started.finish()
    assert status == 130
    screening = screening_of(err)
    assert f"specctl compare --resume {screening}" in err
    ran = run("compare", "--resume", screening[:6], "--yes", "--json")
    assert ran.status == 0, ran.err
    assert "round 1: base" not in ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/screening/1"
    assert (found["survivor"], found["rounds"], found["lost"]) == ("eagle", 1, [])
    left = {one["profile"]: (one["launches"], one["left_after"]) for one in found["ranking"]}
    assert left == {"base": (1, 1), "eagle": (1, None), "slow": (1, 1)}
    trial = found["trial"]
    assert (trial["plan"]["profile"], trial["concurrencies"][0]["launches"]) == ("eagle", [2, 2])
    assert found["trial_id"] == trial["plan"]["id"] != screening
    again = run("runs", "recompute", screening)
    assert again.status == 0, again.err
    assert f"confirmed by trial {found['trial_id']}" in again.out
    over = run("compare", "--resume", screening, "--yes")
    assert (over.status, f"screening {screening} is finished" in over.err) == (2, True), over.err
    page = run("runs", "report", screening, "--md").out
    assert "Which of 2 profiles on here" in page
    assert "eagle against base on here" in page


def test_a_budget_without_time_for_a_trial_ends_in_a_ranking(run, several):
    ran = run("compare", *SCREEN, "--budget", "1s")
    assert ran.status == 1
    assert "candidates: eagle" in ran.out
    assert "no verdict" in ran.out
    assert "x faster" not in ran.out
    assert f"specctl compare --resume {screening_of(ran.err)}" in ran.err


def test_a_grid_leaves_out_what_the_build_would_not_run_and_names_why(run, several):
    rest = ("--over", "eagle-topk=1", "--over", "num-draft-tokens=4", "--dry-run")
    ran = run("compare", "here", "base", "eagle", *WORKLOAD, "--over", "num-steps=1,3,many", *rest)
    assert ran.status == 0, ran.err
    left_out = "leave out eagle+num-steps=many+eagle-topk=1+num-draft-tokens=4: "
    assert f"{left_out}speculation.num-steps: 'many' is not a whole number" in ran.err
    assert "screen eagle+num-steps=1+" in ran.err
    assert "a trial of the one that is left against base" in ran.err


def test_one_point_is_tried_at_once_and_its_trial_goes_on_by_its_name(run, several):
    over = ("--over", "num-steps=2", "--over", "eagle-topk=1", "--over", "num-draft-tokens=3")
    arguments = ("here", "base", "eagle", *WORKLOAD, *over, "--launches", "2", "--budget", "1s")
    ran = run("compare", *arguments, "--yes")
    trial = trial_of(ran.err)
    assert "eagle+num-steps=2" in ran.out
    ran = run("compare", "--resume", trial, "--dry-run")
    assert ran.status == 0, ran.err
    assert "B is eagle+num-steps=2" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["here", "base", "eagle", "--over", "num-step=1"], "The nearest is num-steps"),
        (["here", "base", "eagle", "slow", "--over", "num-steps=1"], "one profile against its"),
        (["here", "eagle", "base", "--over", "num-steps=1"], "does not speculate"),
        (["here", "base", "eagle", "eagle", "--budget", "1h"], "a profile is named twice"),
        (["here", "base", "eagle", "--over", "num-steps=1", "--launches", "1"], "belong to a"),
    ],
)
def test_what_makes_no_screening_is_refused(run, several, arguments, words):
    ran = run("compare", *arguments, "--yes")
    assert ran.status == 2
    assert words in ran.err


@pytest.mark.timeout(240)
@pytest.mark.parametrize("what", ["INSERT", "UPDATE"])
def test_what_ran_before_runs_again_when_the_ledger_takes_no_more_runs(
    run, start, several, home, what
):
    """The trial cannot be entered after the rounds, or the rounds cannot be closed."""
    assert run("start", "here", "base", "--yes").status == 0
    started = start("compare", *SCREEN)
    started.wait_for("round 1: eagle")
    with sqlite3.connect(home / ".local/state/specctl/ledger.db") as ledger:
        ledger.execute(
            f"CREATE TRIGGER broken AFTER {what} ON runs BEGIN INSERT INTO gone VALUES (1); END"
        )
    status, _, err = started.finish()
    assert status == 2, err
    assert "cannot be written: no such table: main.gone" in err
    assert "base, which ran before, runs again" in err
    assert "specctl compare --resume" in err
    assert run("stop", "here/base", "--yes", "--now").status == 0
