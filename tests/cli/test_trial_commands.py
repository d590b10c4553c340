"""compare with several launches, resumed and cut off, against a stand-in engine."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from tests.cli.test_probe_commands import here, port, python, write_training

__all__ = ["here", "port", "python"]
WORKLOAD = ("--workload", "mine.jsonl")


@pytest.fixture
def paced(here):
    """Three profiles whose steps take what they say: base 10 ms, eagle 15 ms for two tokens."""
    for name, step_s in (("base", 0.010), ("eagle", 0.015)):
        with (here / f"profiles/{name}.toml").open("a") as file:
            file.write(f"[env]\nFAKE_STEP_S = '{step_s}'\n")
    (here / "profiles/same.toml").write_text('extends = "base"\n')
    return here


class Started:
    """specctl running, its words read as they come."""

    def __init__(self, argv, environment, folder):
        self.process = subprocess.Popen(
            argv, env=environment, cwd=folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )  # fmt: skip
        self.err = ""

    def wait_for(self, words):
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.err += line
            if words in line:
                return
        raise AssertionError(f"it ended without saying {words!r}:\n{self.err}")

    def finish(self):
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, self.err + err


@pytest.fixture
def start(home, workspace):
    started = []

    def begin(*arguments):
        environment = {
            "HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        }  # fmt: skip
        started.append(
            Started([sys.executable, "-m", "specctl", *arguments], environment, workspace)
        )
        return started[-1]

    yield begin
    for one in started:
        one.process.kill()
        one.process.wait()


def alive_at(run):
    """Profiles whose servers run."""
    servers = json.loads(run("status", "here", "--json").out)["hosts"]["here"]["servers"]
    return [one["profile"] for one in servers if one["pids"] and one["is_ours"]]


def trial_of(err):
    found = re.search(r"trial ([0-9a-f]{8});", err)
    assert found, err
    return found[1]


def test_a_faster_profile_is_called_faster_after_three_launches_each(run, paced):
    ran = run("compare", "here", "base", "eagle", *WORKLOAD, "--launches", "4", "--yes", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/trial/1"
    (one,) = found["concurrencies"]
    assert one["word"] == "faster"
    assert one["ratio"] == pytest.approx(1.19, abs=0.02)
    assert one["low"] < one["ratio"] < one["high"]
    assert one["break_even"]["break_even"] == pytest.approx(1.5, abs=0.02)
    assert one["break_even"]["accept_length"] == pytest.approx(1.875)
    assert (one["outputs"]["identical"], one["outputs"]["prompts"]) == (4, 4)
    assert found["differences"][0]["key"] == "max-running-requests"
    assert found["plan"]["recipes"][0] != found["plan"]["recipes"][1]
    assert "launch 1: base" in ran.err
    assert "not a verdict" not in ran.err


def test_a_verdict_in_words_says_what_it_rests_on(run, paced):
    ran = run("compare", "here", "eagle", "base", *WORKLOAD, "--launches", "3", "--yes")
    assert ran.status == 0, ran.err
    last = ran.out.rstrip().splitlines()[-1]
    assert re.fullmatch(
        r"base against eagle: 1\.1\dx slower on these 4 prompts \(1\.\d\d to 1\.\d\d\), "
        r"[23] launches each, greedy only", last,
    )  # fmt: skip
    assert "two launches of one arm differ by up to" in ran.out
    assert "the same in every pair of launches" in ran.out


def test_the_plan_says_what_it_takes_and_a_dry_run_does_nothing(run, paced, tmp_path):
    ran = run("compare", "here", "base", "eagle", *WORKLOAD, "--dry-run", "--concurrency", "1,2")
    assert (ran.status, ran.out) == (0, "")
    assert "AB BA BA AB BA AB AB BA" in ran.err
    assert "4 prompts of mine at concurrency 1, 2" in ran.err
    assert "a first verdict is possible after 4 launches, the last after 16" in ran.err
    assert not list(tmp_path.glob("state/launches/*"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["here", "base"], "at least one other profile"),
        (["here", "base", "base"], "two different profiles"),
        (["here", "base", "eagle", "same", "--launches", "1", "--budget", "1h"], "--over and"),
        (["here", "base", "eagle", "--margin", "200%"], "between 0 and 50%"),
        (["here", "base", "eagle", "--budget", "soon"], "is no time"),
        (["here", "base", "eagle", "--budget", "40"], "has no unit. Write 40m, 40h or 40s"),
        (["here", "base", "eagle", "--concurrency", "1,1"], "names one twice"),
        (["here", "base", "eagle", "--launches", "1", "--strict"], "belong to a trial"),
        (["--resume", "ffff0000"], "no run ffff0000"),
        (["here", "base", "eagle", "--resume", "ffff0000"], "takes everything from the trial"),
    ],
)
def test_what_makes_no_trial_is_refused_before_a_host_is_asked(run, paced, arguments, words):
    ran = run("compare", *arguments, "--yes")
    assert ran.status == 2
    assert words in ran.err


def test_a_profile_that_crashes_twice_ends_the_trial_and_says_so(run, paced):
    ran = run("compare", "here", "base", "broken", *WORKLOAD, "--launches", "3", "--yes")
    assert ran.status == 0, ran.err
    assert "not used: broken: " in ran.out
    assert "ended early: launch 2 (broken) failed twice" in ran.out


def test_a_budget_that_is_used_up_leaves_the_trial_open(run, paced):
    ran = run("compare", "here", "base", "same", *WORKLOAD, "--launches", "4", "--yes",
              "--budget", "1s")  # fmt: skip
    assert ran.status == 1, ran.err
    assert "a number, not a verdict" in ran.out
    trial = trial_of(ran.err)
    assert f"the budget of 1 s is used up; go on with  specctl compare --resume {trial}" in ran.err
    plan = json.loads(run("runs", "show", trial, "--json").out)["document"]
    assert plan["budget_until_s"] > plan["created_s"]
    again = run("compare", "--resume", trial, "--yes")
    assert again.status == 0, again.err
    assert "launch 3: same" in again.err
    assert "launch 1:" not in again.err
    plan = json.loads(run("runs", "show", trial, "--json").out)["document"]
    assert "budget_until_s" not in plan


def test_ctrl_c_keeps_what_is_measured_and_the_trial_goes_on_from_there(run, start, paced):
    started = start("compare", "here", "base", "same", *WORKLOAD, "--launches", "3", "--yes")
    started.wait_for("launch 2: same")
    started.process.send_signal(signal.SIGINT)
    status, _, err = started.finish()
    assert status == 130
    trial = trial_of(err)
    assert f"specctl compare --resume {trial}" in err
    ran = run("compare", "--resume", trial[:6], "--yes", "--json")
    assert ran.status == 0, ran.err
    assert "launch 1" not in ran.err
    found = json.loads(ran.out)
    assert found["concurrencies"][0]["launches"] == [3, 3]
    assert found["concurrencies"][0]["word"] in {"no material difference", "not enough evidence"}
    again = run("compare", "--resume", trial, "--yes")
    assert again.status == 2
    assert f"trial {trial} is finished: {found['concurrencies'][0]['word']}" in again.err
    assert "launch" not in again.err


def test_a_trial_does_not_go_on_with_a_changed_profile(run, paced, home):
    budget = ("--launches", "2", "--budget", "1s")
    ran = run("compare", "here", "base", "eagle", *WORKLOAD, *budget, "--yes")
    trial = trial_of(ran.err)
    ledger = home / ".local/state/specctl/ledger.db"
    assert sqlite3.connect(ledger).execute("SELECT count(*) FROM blocks").fetchone()[0] >= 2
    with (paced / "profiles/eagle.toml").open("a") as file:
        file.write("FAKE_MORE = '1'\n")
    ran = run("compare", "--resume", trial, "--yes")
    assert ran.status == 2
    assert "eagle has changed since trial" in ran.err


def test_a_second_comparison_is_refused_while_one_goes_on(run, start, paced):
    first = start("compare", "here", "base", "same", *WORKLOAD, "--launches", "4", "--yes")
    first.wait_for("launch 1: base")
    trial = trial_of(first.err)
    for arguments in (
        ("--resume", trial),
        ("here", "base", "eagle", *WORKLOAD, "--launches", "2"),
        ("here", "base", "eagle", *WORKLOAD, "--launches", "1"),
    ):
        ran = run("compare", *arguments, "--yes")
        assert ran.status == 1
        assert re.search(rf"port-\d+ is measured on by .*trial {trial}", ran.err)
    status, out, err = first.finish()
    assert status == 0, err
    assert "not used" not in out


def test_a_trial_cut_off_in_its_first_launch_goes_on(run, start, paced):
    started = start("compare", "here", "base", "same", *WORKLOAD, "--launches", "2", "--yes")
    started.wait_for("launch 1: base")
    started.process.kill()
    started.finish()
    ran = run("compare", "--resume", trial_of(started.err), "--yes", "--json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["concurrencies"][0]["launches"] == [2, 2]


def test_what_ran_before_runs_again_when_the_ledger_is_damaged_meanwhile(run, start, paced, home):
    assert run("start", "here", "base", "--yes").status == 0
    started = start("compare", "here", "base", "same", *WORKLOAD, "--launches", "2", "--yes")
    started.wait_for("launch 1: base")
    with sqlite3.connect(home / ".local/state/specctl/ledger.db") as ledger:
        ledger.execute("DROP TABLE blocks")
    status, _, err = started.finish()
    assert status == 2
    assert "cannot be written: no such table: blocks" in err
    assert "base, which ran before, runs again" in err
    assert f"specctl compare --resume {trial_of(err)}" in err
    assert run("stop", "here/base", "--yes", "--now").status == 0


def test_ctrl_c_after_an_end_by_force_stops_what_is_left_and_restores(run, start, paced):
    assert run("start", "here", "same", "--yes").status == 0
    lines = [json.dumps({"prompt": f"{n} of many", "max_tokens": 400}) for n in range(200)]
    (paced / "long.jsonl").write_text("\n".join(lines))
    named = ("--workload", "long.jsonl", "--launches", "2", "--yes")
    started = start("compare", "here", "base", "eagle", *named)
    started.wait_for("launch 1: base")
    for _ in range(20):
        if alive_at(run) == ["base"]:
            break
    started.process.kill()
    _, _, err = started.finish()
    assert alive_at(run) == ["base"], "it is left over"
    again = start("compare", "--resume", trial_of(err), "--yes")
    again.wait_for("launch ")
    again.process.send_signal(signal.SIGINT)
    status, out, err = again.finish()
    assert status == 130, err
    assert "same, which ran before, runs again" in out
    assert alive_at(run) == ["same"]
    assert run("stop", "here/same", "--yes", "--now").status == 0


def test_an_end_by_force_is_cleared_up_and_what_ran_before_runs_again(run, start, paced):
    assert run("start", "here", "same", "--yes").status == 0
    started = start("compare", "here", "base", "eagle", *WORKLOAD, "--launches", "2", "--yes")
    started.wait_for("launch 2: eagle")
    started.process.kill()
    _, _, err = started.finish()
    time.sleep(1.5)
    ran = run("compare", "--resume", trial_of(err), "--yes")
    assert ran.status == 0, ran.err
    assert "same, which ran before, runs again" in ran.out
    assert "base, which" not in ran.out
    assert "eagle, which" not in ran.out
    assert alive_at(run) == ["same"]
    assert run("stop", "here/same", "--yes", "--now").status == 0


WARM = ("--trained-on", "others.jsonl")


def test_a_warm_trial_is_labelled_and_goes_on_with_the_same_training_only(run, paced):
    write_training(paced)
    ran = run("compare", "here", "base", "same", *WORKLOAD, *WARM, "--launches", "4", "--yes",
              "--budget", "1s")  # fmt: skip
    assert ran.status == 1, ran.err
    assert "4 prompts of mine at concurrency 1" in ran.err
    assert "; trained on others, 5 prompts, before each window; " in ran.err
    trial = trial_of(ran.err)
    assert f"here  mine, warm after others  trial {trial}" in ran.out
    assert ran.out.rstrip().splitlines()[-1].endswith(", warm after others, greedy only")
    kept = json.loads(run("runs", "show", trial, "--json").out)
    assert kept["provenance"]["trained_on"] == kept["document"]["trained_on"]
    assert kept["document"]["training_source"] == "others.jsonl"
    again = run("compare", "--resume", trial, "--yes", "--budget", "1s", "--json")
    assert again.status in {0, 1}, again.err
    found = json.loads(again.out)
    assert found["plan"]["trained_on"]["prompts"] == 5
    assert ", warm after others" in found["concurrencies"][0]["sentence"]
    write_training(paced, ("Somewhere", "Else"))
    changed = run("compare", "--resume", trial, "--yes")
    assert changed.status == 2
    assert f"the training set others.jsonl has changed since trial {trial} began" in changed.err
    assert ", warm after others" in run("runs", "list").out
    more = run("compare", "--resume", trial, *WARM, "--yes")
    assert more.status == 2
    assert "takes everything from the trial" in more.err


def test_a_cold_trial_is_called_cold_and_predicted_by_no_warm_run(run, paced):
    write_training(paced)
    once = ("compare", "here", "base", "eagle", *WORKLOAD, "--launches", "2", "--yes")
    assert run(*once, *WARM).status in {0, 1}
    cold = run(*once)
    assert "here  mine, cold  trial " in cold.out
    assert "warm after" not in cold.out.splitlines()[-1]
    assert re.search(r"predicted: not known \(trial [0-9a-f]{8} was warm after others", cold.out)
    warm = run(*once, *WARM)
    assert re.search(r"predicted: 1\.\d\dx of decoding", warm.out), warm.out
