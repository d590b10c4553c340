"""Starting, watching, measuring and stopping real SGLang over ssh."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from specctl.domain.trial.design import Design
from specctl.domain.trial.looks import Word
from specctl.domain.trial.verdict import judge
from tests.live.conftest import ENVIRONMENT, MODELS, PYTHON, launches_of
from tests.live.drifting import check_drift, write_profile
from tests.live.forecasts import check_forecast
from tests.live.repeating import (
    FILE,
    NAMES,
    assert_answers_are_kept_as_tokens,
    assert_counted_as_the_server_does,
    blocks_of_twins,
    measure_warm,
    newest_probe,
    results_of_trial,
    write_workload,
)
from tests.schemas import assert_valid

if TYPE_CHECKING:
    from specctl.domain.probe import ProbeResult
    from tests.live.conftest import Operator

pytestmark = [pytest.mark.live, pytest.mark.timeout(1000)]


def _interrupt_a_start(operator: Operator, profile: str) -> None:
    """Ctrl-C stops following, not the load."""
    starting = subprocess.Popen(
        operator.argv("start", "gpu", profile, "--port", str(operator.port), "--yes"),
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
    ("profile", "algorithm", "least"),
    [
        ("tiny-topk", "NGRAM", 1.5),
        pytest.param("tiny-eagle", "EAGLE", 1.2, marks=pytest.mark.xdist_group("beside")),
    ],
)
def test_a_probe_counts_what_the_server_counts(
    operator: Operator, twins: list[ProbeResult], profile: str, algorithm: str, least: float
):
    """On a launch whose start was interrupted and whose link was cut, with n-grams."""
    write_profile(operator)
    _start(operator, profile, algorithm)
    tokens = operator.counter("sglang:generation_tokens_total")
    steps = operator.counter("sglang:spec_verify_calls_total")
    probe = operator.ok("probe", f"gpu/{operator.port}", "--workload", "tiny", "--json").json
    tokens = operator.counter("sglang:generation_tokens_total") - tokens
    steps = operator.counter("sglang:spec_verify_calls_total") - steps

    assert not probe["void"], probe["void"]
    assert probe["accept_length"] > least
    assert_counted_as_the_server_does(newest_probe(operator))
    measured = sum(request["completion_tokens"] for request in probe["requests"])
    assert 0 < measured <= tokens, "the server counts warm-up and streamed requests too"
    assert tokens / steps == pytest.approx(probe["accept_length"], rel=0.25), (
        "the server's own counters, warm-up included, tell about the same"
    )

    flushed = operator.ok("server", f"gpu/{operator.port}", "flush", "--yes")
    assert flushed.status == 0
    if algorithm == "NGRAM":
        _measure_a_twin(operator, twins)
        measure_warm(operator)
        check_forecast(operator)
        check_drift(operator)
    busy = _generate_long(operator)
    stopped = operator.ok("stop", f"gpu/{operator.port}", "--now", "--confirm", "gpu", "--yes")
    assert stopped.out.startswith("Gone: ")
    busy.wait(timeout=10)
    assert not list(launches_of(operator.folder))


def _measure_a_twin(operator: Operator, twins: list[ProbeResult]) -> None:
    write_workload(operator)
    operator.ok("probe", f"gpu/{operator.port}", "--workload", FILE, "--json")
    twins.append(newest_probe(operator))


def _start(operator: Operator, profile: str, algorithm: str) -> None:
    if algorithm == "NGRAM":
        _interrupt_a_start(operator, profile)
    started = operator.start(profile)
    assert "Ready in" in started.out
    assert "weights" in started.err
    before = operator.server()
    assert (before["algorithm"], before["state"]) == (algorithm, "ready")
    assert (before["is_ours"], before["version"]) == (True, "0.5.23")
    if algorithm == "NGRAM":
        _cut_the_link(operator)
        after = operator.server()
        assert (after["identity"], after["state"]) == (before["identity"], "ready")


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
    (launch,) = (operator.folder / "state").glob("launches/*")
    cause = operator.ok("logs", f"gpu/{launch.name[:8]}", "--cause")
    assert "Error" in cause.out
    assert not list(launches_of(operator.folder))


def test_the_environment_is_the_pinned_one():
    done = subprocess.run(
        [str(PYTHON), "-c", "from importlib.metadata import version; print(version('sglang'))"],
        capture_output=True, text=True, check=True, env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.stdout.strip() == "0.5.23"
    assert ENVIRONMENT.is_dir()


def test_n_grams_are_faster_on_text_that_repeats(operator: Operator, twins: list[ProbeResult]):
    """A trial of four launches, whose order is AB BA; and the same text from both.

    Where other work on the machine makes launches of one arm differ by more than the arms do, the
    trial has to say that this is no evidence, although each launch was faster than each other one.
    """
    write_workload(operator)
    for name in ("tiny-baseline", "tiny-ngram"):
        profile = operator.folder / "ws" / "profiles" / f"{name}.toml"
        text = profile.read_text()
        profile.write_text(text.replace("port = 31001", f"port = {operator.port}"))
    arms = ("tiny-baseline", "tiny-ngram")
    options = ("--workload", FILE, "--launches", "2", "--json", "--yes")
    trial = operator.ok("compare", "gpu", *arms, *options, timeout_s=900).json
    assert_valid(trial)
    (found,) = trial["concurrencies"]
    measured = results_of_trial(operator, trial["plan"]["id"])
    twins += measured["B"]
    slowest, quickest = (
        pick(result.wall_s for result in measured[arm]) for arm, pick in (("B", max), ("A", min))
    )
    assert slowest < quickest
    assert trial["verdict"] in {"faster", "not enough evidence"}, found
    assert trial["verdict"] != "faster" or found["low"] > 1
    assert found["launches"] == [2, 2]
    assert found["outputs"]["identical"] == found["outputs"]["prompts"] == len(NAMES)
    assert_answers_are_kept_as_tokens([*measured["A"], *measured["B"]])
    said = sum(request.completion_tokens or 0 for request in measured["A"][0].requests)
    assert (found["parting"], found["outputs"]["tokens"]) == (None, said)
    assert [result.accept_length for result in measured["A"]] == [None, None]
    for result in measured["B"]:
        assert_counted_as_the_server_does(result)
    lengths = [result.accept_length for result in measured["B"]]
    assert lengths[0] == lengths[1]
    assert (lengths[0] or 0.0) > 3
    assert operator.servers() == []
    assert not list(launches_of(operator.folder))


def test_launches_of_the_same_thing_are_not_told_apart(twins: list[ProbeResult]):
    """Two by two, of those that other tests made."""
    if len(twins) < 4:
        pytest.skip("it judges launches of the whole suite")
    blocks = blocks_of_twins(twins[::2][:2], twins[1::2][:2])
    verdict = judge(blocks, Design(most_launches=2, margin=0.1), asked=len(NAMES))
    assert verdict.word in {Word.NO_MATERIAL_DIFFERENCE, Word.NOT_ENOUGH_EVIDENCE}
