"""cost as a user runs it: of a kept run, and of launches of a stand-in engine."""

from __future__ import annotations

import json
import signal

import pytest

from tests.cli.kept import keep_trial
from tests.cli.test_probe_commands import here, port, python
from tests.cli.test_trial_commands import WORKLOAD, paced, start, trial_of

__all__ = ["here", "paced", "port", "python", "start"]


@pytest.fixture
def kept(home, workspace):
    """The id of a trial at two concurrencies."""
    (workspace / "remotes/gpu8.toml").write_text('ssh = "gpu8"\n')
    (workspace / "profiles/base.toml").write_text('model = "m"\n')
    (workspace / "profiles/eagle3.toml").write_text(
        'extends = "base"\nbaseline = "base"\n[speculation]\nalgorithm = "EAGLE3"\n'
        'draft-model-path = "d"\n'
    )
    return keep_trial(home, concurrencies=(1, 4))


def test_the_costs_of_a_kept_run_ask_no_host(run, kept):
    ran = run("cost", "gpu8", "eagle3", "--measured", kept[:5], "--from", kept, "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/cost/1"
    assert (found["run"], found["baseline"], found["links"]) == (kept, "base", [])
    assert [row["concurrency"] for row in found["rows"]] == [1, 4]
    for row in found["rows"]:
        assert row["break_even"] == pytest.approx(2 / 1.3, rel=0.01)
        assert row["accept_length"] == 2.0
        assert row["predictions"][0]["source"] == f"run {kept} on gpu8"
        assert row["predictions"][0]["residual"] is not None
        assert row["predictions"][-1]["residual"] is None
        parts = [row["predictions"][0][f"{name}_residual"] for name in ("first_token", "rest")]
        whole = (1 + parts[0]) * (1 + parts[1])
        assert whole == pytest.approx(1 + row["predictions"][0]["residual"])


def test_costs_in_words(run, kept):
    ran = run("cost", "gpu8", "eagle3", "--measured", kept, "--base-ms", "10", "--draft-ms", "3",
              "--verify-ms", "13", "--accept-length", "1.8")  # fmt: skip
    assert ran.status == 0, ran.err
    assert "a step costs 1.54 plain ones and brings 2.00 tokens, more than it costs" in ran.out
    assert "typed" in ran.out
    assert "1.12x" in ran.out
    assert "the decode speedup itself, no prediction" in ran.out
    assert "at concurrency 1 first tokens, which drafts do not hasten, are 2% of the" in ran.out


def test_a_run_of_another_host_says_no_costs_of_this_one(run, kept, workspace):
    (workspace / "remotes/gpu9.toml").write_text('ssh = "gpu9"\n')
    ran = run("cost", "gpu9", "eagle3", "--measured", kept)
    assert ran.status == 2
    assert "was made on gpu8" in ran.err
    ran = run("cost", "gpu8", "eagle3", "--measured", kept, "--baseline", "eagle3")
    assert "against base" in ran.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--step-ms", "20"], "need --base-ms"),
        (["--base-ms", "20"], "no step cost given"),
        (["--baseline", "nobody"], "no profile called nobody"),
        (["--from", "ffff"], "no run ffff"),
        (["--concurrency", "0"], "is no concurrency. It lies between 1 and 1,024"),
    ],
)
def test_what_says_no_costs_is_refused(run, kept, options, words):
    ran = run("cost", "gpu8", "eagle3", "--measured", kept, *options)
    assert (ran.status, ran.out) == (2, "")
    assert words in ran.err


def test_both_are_launched_once_and_measured_at_every_concurrency(run, paced):
    for name in ("base", "eagle"):
        text = (paced / f"profiles/{name}.toml").read_text()
        (paced / f"profiles/{name}.toml").write_text(f"{text}SGLANG_RECORD_STEP_TIME = '1'\n")
    ran = run("cost", "here", "eagle", *WORKLOAD, "--concurrency", "1,2", "--yes", "--json")
    assert ran.status == 0, ran.err
    assert "launches in the order AB" in ran.err
    found = json.loads(ran.out)
    assert [row["concurrency"] for row in found["rows"]] == [1, 2]
    first = found["rows"][0]
    assert first["break_even"] == pytest.approx(1.5, abs=0.03)
    assert first["accept_length"] == pytest.approx(1.875)
    recorded = next(one for one in first["predictions"] if "recorded" in one["source"])
    assert recorded["speedup"] == pytest.approx(1.875 / 1.5, abs=0.05)
    assert recorded["residual"] is not None
    assert any("one launch each" in words for words in found["notes"])


def test_a_dry_run_launches_nothing_and_one_rank_reduces_nothing(run, paced, tmp_path):
    ran = run("cost", "here", "eagle", *WORKLOAD, "--dry-run")
    assert (ran.status, ran.out) == (0, "")
    assert "launches in the order AB" in ran.err
    assert not list(tmp_path.glob("state/launches/*"))
    ran = run("cost", "here", "eagle", "--allreduce", "--yes")
    assert ran.status == 2
    assert "its steps hold no all-reduce" in ran.err


def test_a_build_without_simulated_acceptance_is_told_before_a_launch(run, paced):
    asked = ("cost", "here", "eagle", *WORKLOAD, "--yes", "--simulate-accept-length")
    ran = run(*asked, "1.5,2")
    assert ran.status == 2
    assert "reads neither SGLANG_SIMULATE_ACC_LEN nor SIMULATE_ACC_LEN" in ran.err
    for value, more, words in (
        ("0.5", (), "lies between 1 and 64"),
        ("2,2", (), "each once"),
        ("two", (), "no list of numbers"),
        ("2", ("--measured", "5c0f"), "launches anew"),
        ("2", ("--concurrency", "1,4"), "at one concurrency"),
    ):
        ran = run(*asked, value, *more)
        assert ran.status == 2
        assert words in ran.err


def test_a_profile_whose_tokens_are_made_up_is_not_compared(run, paced):
    with (paced / "profiles/eagle.toml").open("a") as file:
        file.write("SGLANG_SIMULATE_ACC_LEN = '2'\n")
    for launches in ("1", "3"):
        ran = run("compare", "here", "base", "eagle", *WORKLOAD, "--launches", launches, "--yes")
        assert ran.status == 1
        assert "eagle sets SGLANG_SIMULATE_ACC_LEN: accepted tokens are made up" in ran.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted_before_anything_is_measured_it_says_so_and_no_more(run, start, paced, number):
    started = start("cost", "here", "eagle", *WORKLOAD, "--yes")
    started.wait_for("launch 1: base")
    started.process.send_signal(number)
    status, out, err = started.finish()
    assert (status, "error" in err) == (130, False), err
    assert f"interrupted: specctl runs show {trial_of(err)} says what became of each" in err
    assert out.startswith("here  eagle against base")
