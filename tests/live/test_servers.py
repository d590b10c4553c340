"""Starting, watching, measuring and stopping real SGLang over ssh."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import pytest

from tests.live.conftest import ENVIRONMENT, MODELS, PYTHON, launches_of
from tests.live.drifting import check_drift, write_profile
from tests.live.forecasts import check_forecast

if TYPE_CHECKING:
    from tests.live.conftest import Operator

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def test_a_baseline_lives_through_ctrl_c_and_a_cut_link_and_leaves_proof(operator: Operator):
    _interrupt_a_start(operator)
    started = operator.start("tiny-baseline")
    assert "Ready in" in started.out
    assert "weights" in started.err
    before = operator.server()
    assert before["state"] == "ready"
    assert before["is_ours"]
    assert before["version"] == "0.5.23"
    assert before["algorithm"] is None

    _cut_the_link(operator)
    after = operator.server()
    assert after["identity"] == before["identity"]
    assert after["state"] == "ready"

    tokens = operator.counter("sglang:generation_tokens_total")
    probe = operator.ok("probe", f"gpu/{operator.port}", "--workload", "tiny", "--json").json
    made = operator.counter("sglang:generation_tokens_total") - tokens
    assert probe["accept_length"] is None
    measured = sum(request["completion_tokens"] for request in probe["requests"])
    assert 0 < measured <= made, "the server counts warm-up and streamed requests too"

    stopped = operator.ok("stop", f"gpu/{operator.port}", "--yes")
    assert stopped.out.startswith("Gone: 4 of 4 processes")
    assert not list(launches_of(operator.folder))
    assert operator.servers() == []


def _interrupt_a_start(operator: Operator) -> None:
    """Ctrl-C stops following, not the load."""
    starting = subprocess.Popen(
        operator.argv("start", "gpu", "tiny-baseline", "--port", str(operator.port), "--yes"),
        env=operator.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        # a background job of a shell ignores Ctrl-C, and so would this
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert starting.stderr is not None
    for line in starting.stderr:
        if b"waiting until ready" in line:
            break
    starting.send_signal(signal.SIGINT)
    starting.communicate(timeout=20)
    assert starting.returncode == 130
    server = operator.server()
    assert server["state"] in {"starting", "ready"}
    assert server["is_ours"]


def _cut_the_link(operator: Operator) -> None:
    """While somebody watches, who must see it lost and come back."""
    watching = subprocess.Popen(
        operator.argv("watch", "gpu", "--json"), env=operator.environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert watching.stdout is not None
    try:
        links = _links(watching.stdout)
        assert next(links) == "up"
        operator.sshd.signal_connections(signal.SIGKILL)
        assert next(links) == "lost"
        assert next(links) == "up"
    finally:
        watching.kill()
        watching.communicate()


def _links(stream):
    """The ways the link went, connecting left out."""
    for line in stream:
        event = json.loads(line)
        if event["event"] == "LinkChanged" and event["link"] != "connecting":
            yield event["link"]


@pytest.mark.parametrize(
    ("profile", "algorithm", "least"), [("tiny-topk", "NGRAM", 1.5), ("tiny-eagle", "EAGLE", 1.2)]
)
def test_a_probe_counts_what_the_server_counts(
    operator: Operator, profile: str, algorithm: str, least: float
):
    write_profile(operator)
    operator.start(profile)
    assert operator.server()["algorithm"] == algorithm
    tokens = operator.counter("sglang:generation_tokens_total")
    steps = operator.counter("sglang:spec_verify_calls_total")
    probe = operator.ok("probe", f"gpu/{operator.port}", "--workload", "tiny", "--json").json
    tokens = operator.counter("sglang:generation_tokens_total") - tokens
    steps = operator.counter("sglang:spec_verify_calls_total") - steps

    requests = probe["requests"]
    assert not probe["void"], probe["void"]
    assert probe["accept_length"] > least
    for request in requests:
        histogram = request["histogram"]
        assert sum(histogram) == request["verify_steps"]
        accepted = sum(count * drafts for drafts, count in enumerate(histogram))
        assert accepted == request["correct_drafts"]
    correct = sum(request["correct_drafts"] for request in requests)
    verified = sum(request["verify_steps"] for request in requests)
    assert probe["accept_length"] == pytest.approx(1 + correct / verified)
    assert tokens / steps == pytest.approx(probe["accept_length"], rel=0.25), (
        "the server's own counters, warm-up included, tell about the same"
    )

    flushed = operator.ok("server", f"gpu/{operator.port}", "flush", "--yes")
    assert flushed.status == 0
    if algorithm == "NGRAM":
        check_forecast(operator)
        check_drift(operator)
    busy = _generate_long(operator)
    stopped = operator.ok("stop", f"gpu/{operator.port}", "--now", "--confirm", "gpu", "--yes")
    assert stopped.out.startswith("Gone: ")
    busy.wait(timeout=10)
    assert not list(launches_of(operator.folder))


def _generate_long(operator: Operator) -> subprocess.Popen[bytes]:
    """Requests of somebody else that would run for a while."""
    sampling = {"max_new_tokens": 1800, "ignore_eos": True, "temperature": 0}
    body = {"text": ["def f", "class A", "import", "x ="] * 8, "sampling_params": sampling}
    script = (
        "import sys, urllib.request as u; "
        "u.urlopen(u.Request(sys.argv[1], sys.argv[2].encode(), "
        "{'Content-Type': 'application/json'})).read()"
    )
    url = f"http://127.0.0.1:{operator.port}/generate"
    process = subprocess.Popen(
        [str(PYTHON), "-c", script, url, json.dumps(body)], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while not _running(operator):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    return process


def _running(operator: Operator) -> int:
    loads = json.loads(operator.get("/v1/loads"))["loads"]
    return sum(rank["num_running_reqs"] for rank in loads)


def test_one_started_by_hand_is_foreign_until_it_is_adopted(operator: Operator):
    """And its key never reaches a screen, a file of ours or a command line of ours."""
    key = "sk-by-hand-0123456789"
    log = (operator.folder / "by-hand.log").open("wb")
    by_hand = subprocess.Popen(
        _by_hand(operator, key), stdout=log, stderr=log, start_new_session=True
    )
    try:
        _wait_until_up(operator, key)
        server = operator.server()
        assert server["is_ours"] is False
        assert server["state"] == "ready"
        assert "key" in server["why"]
        refused = operator.run("stop", f"gpu/{operator.port}", "--yes")
        assert refused.status == 2
        assert f"--pid {by_hand.pid}" in refused.err
        adopted = operator.ok(
            "adopt", "gpu", str(by_hand.pid), "--write-profile", "by-hand", "--yes"
        )
        profile = (operator.folder / "ws" / "profiles" / "by-hand.toml").read_text()
        everything = "".join((adopted.out, adopted.err, profile, *_files(operator)))
        assert key not in everything
        assert operator.server()["is_ours"] is True
        logs = operator.ok("logs", f"gpu/{operator.port}", "-n", "5000")
        assert "server_args=" in logs.out
        assert key not in logs.out + logs.err
        stopped = operator.ok("stop", f"gpu/{operator.port}", "--yes")
        assert stopped.out.startswith("Gone: ")
        assert by_hand.wait(timeout=10) is not None
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(by_hand.pid, signal.SIGKILL)
        by_hand.wait()
        log.close()


def _by_hand(operator: Operator, key: str) -> list[str]:
    return [
        str(PYTHON), "-m", "sglang.launch_server", "--model-path", str(MODELS / "target"),
        "--device", "cpu", "--attention-backend", "torch_native", "--sampling-backend", "pytorch",
        "--disable-overlap-schedule", "--dtype", "float32", "--max-total-tokens", "20000",
        "--max-running-requests", "8", "--host", "127.0.0.1", "--port", str(operator.port),
        "--api-key", key,
    ]  # fmt: skip


def _files(operator: Operator) -> list[str]:
    return [p.read_text(errors="replace") for p in (operator.folder / "state").rglob("*.json")]


def _wait_until_up(operator: Operator, key: str) -> None:
    request = Request(
        f"http://127.0.0.1:{operator.port}/model_info", headers={"Authorization": f"Bearer {key}"}
    )
    deadline = time.monotonic() + 120
    while True:
        try:
            with urlopen(request, timeout=5):
                return
        except OSError:
            assert time.monotonic() < deadline, "the server by hand did not come up"
            time.sleep(0.2)


def test_a_start_that_fails_says_its_first_cause(operator: Operator):
    profile = operator.folder / "ws" / "profiles" / "bad.toml"
    profile.write_text(
        'extends = "tiny-baseline"\n[speculation]\nalgorithm = "EAGLE"\nnum-steps = 3\n'
        "eagle-topk = 1\nnum-draft-tokens = 4\n"
        f'draft-model-path = "{MODELS / "target"}"\n'
    )
    words = ("start", "gpu", "bad", "--port", str(operator.port), "--yes")
    refused = operator.run(*words)
    assert refused.status == 1
    assert not list((operator.folder / "state").glob("launches/*"))
    failed = operator.run(*words, "--unchecked")
    assert failed.status == 1
    assert "hint:" in failed.err
    assert "sigquit" not in failed.err.rpartition("specctl: error:")[2].lower()
    cause = operator.ok("logs", "gpu", "--cause")
    assert "Error" in cause.out
    assert not list(launches_of(operator.folder))


def test_the_environment_is_the_pinned_one():
    done = subprocess.run(
        [str(PYTHON), "-c", "from importlib.metadata import version; print(version('sglang'))"],
        capture_output=True, text=True, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == "0.5.23"
    assert ENVIRONMENT.is_dir()


def test_a_comparison_starts_measures_and_stops_each_arm(operator: Operator):
    for name in ("tiny-baseline", "tiny-ngram"):
        profile = operator.folder / "ws" / "profiles" / f"{name}.toml"
        text = profile.read_text()
        profile.write_text(text.replace("port = 31001", f"port = {operator.port}"))
    arms = ("tiny-baseline", "tiny-ngram")
    options = ("--workload", "tiny", "--prompts", "6", "--launches", "1", "--json", "--yes")
    compared = operator.ok("compare", "gpu", *arms, *options, timeout_s=280).json
    assert [arm["profile"] for arm in compared["arms"]] == list(arms)
    assert all(arm["result"]["tokens_per_s"] > 0 for arm in compared["arms"])
    assert compared["arms"][1]["result"]["accept_length"] > 1
    assert operator.servers() == []
    assert not list(launches_of(operator.folder))
