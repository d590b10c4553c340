"""probe and compare as a user runs them, against a stand-in engine on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ONCE = ("--workload", "mine.jsonl", "--launches", "1", "--yes")
BUILD = Path(__file__).parents[1] / "unit/services/probe_build"


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """An interpreter whose packages hold the stand-in engine."""
    home = tmp_path_factory.mktemp("engine")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    shutil.copytree(BUILD / "sglang", packages / "sglang")
    metadata = packages / "sglang-0.5.23.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: sglang\nVersion: 0.5.23\n")
    return str(home / "bin/python")


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def here(workspace, python, tmp_path, port):
    """A workspace with this machine as a host, a baseline, two drafts and a workload."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text(json.dumps({"model_type": "llama"}))
    (workspace / "remotes/here.toml").write_text(
        f'transport = "local"\npython = "{python}"\ngpus = []\nstate_dir = "{tmp_path}/state"\n'
    )
    (workspace / "profiles/base.toml").write_text(
        f'model = "{tmp_path}/model"\n[arguments]\ndevice = "cpu"\n[placement]\nport = {port}\n'
    )
    for name, algorithm in (("eagle", "EAGLE"), ("broken", "STANDALONE")):
        (workspace / f"profiles/{name}.toml").write_text(
            f'extends = "base"\nbaseline = "base"\n[speculation]\nalgorithm = "{algorithm}"\n'
            f'draft-model-path = "{tmp_path}/model"\n'
        )
    lines = [
        {"prompt": f"{start} upon a time there was a word", "max_tokens": 16}
        for start in ("Once", "Twice", "Never", "Hardly")
    ]
    (workspace / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    yield workspace
    for record in tmp_path.glob("state/launches/*/launch.json"):
        with contextlib.suppress(OSError, ValueError, KeyError):
            os.killpg(json.loads(record.read_text())["identity"]["pgid"], signal.SIGKILL)


RESULT_KEYS = {
    "schema", "simulated", "server", "profile", "concurrency", "requests", "wall_s", "tokens_per_s",
    "tokens_per_s_per_request", "accept_length", "accept_length_per_request",
    "accept_length_reported", "histogram", "ttft_p50_s", "ttft_p95_s", "inter_token_p50_s",
    "inter_token_p95_s", "step_s", "cached_tokens", "client_cpu_percent", "void", "notes",
    "missing", "identity_key", "started_at_s", "algorithm", "accept_length_source",
    "marginal_acceptance", "conditional_acceptance", "decode_source", "peak_tokens_per_s",
    "streamed", "cache_state", "workload", "workload_sha256", "temperature", "rendering",
    "loop_lag_p99_s", "is_void", "void_kinds", "mean_in_flight", "fillers", "energy_j",
    "energy_per_token_j", "energy_source", "open_loop", "forced_by",
    "trained_on",
}  # fmt: skip


def test_probe_of_a_server(run, here):
    assert run("start", "here", "eagle", "--yes").status == 0
    ran = run("probe", "here/eagle", "--workload", "mine.jsonl", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/probe/1"
    assert set(found) == RESULT_KEYS
    assert (found["profile"], found["algorithm"], found["void"]) == ("eagle", "EAGLE", [])
    assert found["accept_length"] > 1.5
    assert "specctl: measuring (4 requests)" in ran.err
    assert (
        "1 at a time; how long it takes is unknown until the first requests are answered" in ran.err
    )
    again = run("probe", "here/eagle", "--workload", "mine.jsonl", "--rate", "20/s", "--json")
    assert again.status == 0, again.err
    assert "20/s, Poisson arrivals (seed 0), at most 256 in flight" in again.err
    assert json.loads(again.out)["open_loop"]["asked_per_s"] == 20
    both = run("probe", "here/eagle", "--rate", "2/s", "--concurrency", "2")
    assert both.status == 2
    assert "--rate and --concurrency" in both.err
    wrong = run("probe", "here/eagle", "--rate", "2/h")
    assert wrong.status == 2
    assert "is no rate" in wrong.err
    shown = run("probe", "here/eagle", "--workload", "mine.jsonl")
    assert "takes about 5 s, at most, from a probe of" in shown.err
    text = shown.out
    assert "accept length" in text
    assert "once-reached" in text
    assert run("stop", "here/eagle", "--yes", "--now").status == 0


def test_a_void_probe_ends_with_status_1(run, here):
    file = here / "profiles/looping.toml"
    file.write_text(f'extends = "base"\n[env]\nFAKE_TEXT = "{"again " * 40}"\n')
    assert run("start", "here", "looping", "--yes").status == 0
    ran = run("probe", "here/looping", "--workload", "mine.jsonl")
    assert ran.status == 1
    assert "void: " in ran.err
    assert "tok/s" in ran.out
    assert run("stop", "here/looping", "--yes", "--now").status == 0


def test_a_server_or_a_workload_that_is_not_there_is_said(run, here):
    ran = run("probe", "here/nobody", "--workload", "mine.jsonl")
    assert (ran.status, ran.out) == (2, "")
    assert "no server called nobody" in ran.err
    ran = run("probe", "here/nobody", "--workload", "mnie.jsonl")
    assert ran.status == 2
    assert "no workload mnie.jsonl" in ran.err


def test_probe_respects_read_only(run, here):
    assert run("start", "here", "base", "--yes").status == 0
    ran = run("--read-only", "probe", "here/base", "--workload", "mine.jsonl")
    assert ran.status == 1
    assert "read-only" in ran.err
    assert run("stop", "here/base", "--yes", "--now").status == 0


def test_compare_prints_numbers_and_no_verdict(run, here):
    for name, step_s in (("base", 0.010), ("eagle", 0.015)):
        with (here / f"profiles/{name}.toml").open("a") as file:
            file.write(f"[env]\nFAKE_STEP_S = '{step_s}'\n")
    ran = run(
        "compare",
        "here",
        "base",
        "eagle",
        "--workload",
        "mine.jsonl",
        "--launches",
        "1",
        "--yes",
        "--json",
    )
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["schema"] == "specctl/compare/1"
    assert (found["baseline"], found["verdict"]) == ("base", None)
    assert [arm["failure"] for arm in found["arms"]] == [None, None]
    (standing,) = found["standings"]
    assert standing["identical_outputs"] == 4
    # by the engine's own clock, which no load of this machine slows: 16 steps of 10 ms, 9 of 15 ms
    assert standing["speedup"] == pytest.approx(160 / 135, rel=0.02)
    assert standing["break_even_accept_length"] == pytest.approx(1.5, rel=0.02)
    assert found["differences"][0]["key"] == "max-running-requests"


def test_an_arm_that_does_not_start_is_a_result_and_exit_status_1(run, here):
    ran = run(
        "compare", "here", "base", "broken", "--workload", "mine.jsonl", "--launches", "1", "--yes"
    )
    assert ran.status == 1
    assert "no speedup, because broken gave no result" in ran.out
    assert "One launch per arm is a number, not a verdict" in ran.out


def test_dry_run_and_missing_consent_do_nothing(run, here, tmp_path):
    shown = run("compare", "here", "base", "eagle", *ONCE, "--dry-run")
    assert (shown.status, shown.out) == (0, "")
    assert "1. start base, probe it with 4 prompts of mine, stop it" in shown.err
    refused = run("compare", "here", "base", "eagle", "--workload", "mine.jsonl")
    assert refused.status == 2
    assert "Add --yes" in refused.err
    assert not list(tmp_path.glob("state/launches/*"))


def test_breakeven_needs_no_workspace(run, tmp_path):
    ran = run(
        "breakeven", "--base-ms", "10", "--step-ms", "15", "--accept-length", "2", inside=tmp_path
    )
    assert ran.status == 0
    assert "Worth it." in ran.out
    wrong = run("breakeven", "--base-ms", "10", inside=tmp_path)
    assert wrong.status == 2
    assert "no step cost given" in wrong.err


OTHERS = ("Somewhere", "Nowhere", "Anywhere", "Elsewhere", "Overthere")


def write_training(here, starts=OTHERS, name="others.jsonl"):
    lines = [{"prompt": f"{start} upon a time lay a stone", "max_tokens": 8} for start in starts]
    (here / name).write_text("\n".join(map(json.dumps, lines)))


def test_a_warm_probe_is_labelled_and_never_mixed_with_a_cold_one(run, here):
    write_training(here)
    assert run("start", "here", "eagle", "--yes").status == 0
    asked = ("probe", "here/eagle", "--workload", "mine.jsonl")
    ran = run(*asked, "--trained-on", "others.jsonl", "--json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    assert found["trained_on"]["workload"] == "others"
    assert found["trained_on"]["prompts"] == 5
    assert len(found["requests"]) == 4
    assert "4 prompts of mine, 1 at a time; trained on others, 5 prompts, before each" in ran.err
    assert "specctl: training (5 requests)" in ran.err
    shown = run(*asked, "--trained-on", "others.jsonl", "--prompts", "2").out
    assert "warm after others" in shown
    assert "trained on others, 2 prompts, before each window" in shown
    cold = run(*asked, "--json")
    assert json.loads(cold.out)["trained_on"] is None
    ids = [row["id"] for row in json.loads(run("runs", "list", "--json").out)["runs"]]
    newest = json.loads(run("runs", "show", ids[1], "--json").out)
    assert newest["provenance"]["trained_on"]["prompts"] == 2
    differing = run("runs", "diff", ids[0], ids[1]).out
    assert "trained on" in differing
    assert run("stop", "here/eagle", "--yes", "--now").status == 0


def test_a_training_set_that_holds_a_measured_prompt_is_refused(run, here):
    (here / "others.jsonl").write_text((here / "mine.jsonl").read_text().splitlines()[1])
    for arguments in (("probe", "here"), ("compare", "here", "base", "eagle", "--yes")):
        ran = run(*arguments, "--workload", "mine.jsonl", "--trained-on", "others.jsonl")
        assert (ran.status, ran.out) == (2, "")
        assert "a training prompt is also measured: 'Twice upon a time" in ran.err
    part = ("--workload", "mine.jsonl", "--trained-on", "others.jsonl", "--prompts", "1")
    allowed = run("compare", "here", "base", "eagle", *part, "--dry-run")
    assert allowed.status == 0, allowed.err
    both = run("probe", "here", "--warm", "--trained-on", "others.jsonl")
    assert both.status == 2
    assert "--warm takes the cache as found" in both.err


def test_a_warm_comparison_says_so_in_its_plan_and_its_result(run, here):
    write_training(here)
    ran = run("compare", "here", "base", "eagle", *ONCE, "--trained-on", "others.jsonl")
    assert ran.status == 0, ran.err
    assert "probe it with 4 prompts of mine, trained on others, 5 prompts, before each" in ran.err
    assert "here  mine, warm after others  concurrency 1" in ran.out
    (kept,) = json.loads(run("runs", "list", "--kind", "comparison", "--json").out)["runs"]
    again = run("runs", "show", kept["id"])
    assert "warm after others" in again.out
