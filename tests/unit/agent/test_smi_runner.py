from __future__ import annotations

import os
import time
from typing import Any, cast

import pytest

from specctl.agent import children, places, smi
from tests.unit.agent.running import RunningAgent

GOOD = """#!/bin/sh
case "$1" in
*compute-apps*) echo "GPU-a, 4242, sglang::scheduler_TP0, 91418" ;;
*) echo "0, GPU-a, NVIDIA GB10" ;;
esac
"""
HANGING = "#!/bin/sh\nexec sleep 600\n"


@pytest.fixture
def script(tmp_path, monkeypatch):
    path = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(places, "EXTRA_PATH", ())

    def write(text):
        draft = tmp_path / "draft"
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(path)

    return write


def _until(runner, accept):
    answer = None
    for _ in range(20):
        answer = runner.read(wait_s=1.0)
        if accept(answer):
            return answer
    raise AssertionError(answer)


def test_without_nvidia_smi_the_reason_is_named(script):
    del script
    answer = _until(smi.Smi(), lambda answer: answer["missing"][0] != "not yet read")
    assert answer["missing"][0] == "not installed"
    assert answer["text"] is None


def test_the_text_goes_on_as_it_is(script):
    script(GOOD)
    answer = _until(smi.Smi(), lambda answer: answer["text"])
    assert answer["text"] == "0, GPU-a, NVIDIA GB10\n"
    assert answer["process_text"] == "GPU-a, 4242, sglang::scheduler_TP0, 91418\n"
    assert answer["missing"] is None
    assert 0 <= answer["age_s"] < 20


def test_fields_an_old_driver_does_not_know_are_left_out(script):
    script(
        "#!/bin/sh\n"
        'for field in memory.reserved clocks_event_reasons.active; do case "$1" in *$field*)\n'
        """echo "Field \\"$field\\" is not a valid field to query."; exit 2;; esac; done\n"""
        'echo "$1"\n'
    )
    answer = _until(smi.Smi(), lambda answer: answer["text"])
    assert "memory.reserved" not in answer["query"]
    assert answer["query"][-1] == "clocks_throttle_reasons.active"
    assert answer["text"] == "--query-gpu=" + ",".join(answer["query"]) + "\n"


def test_b10_a_hang_is_timed_out_and_asking_never_waits(script):
    script(HANGING)
    runner = smi.Smi(timeout_s=0.2)
    began = time.monotonic()
    first = runner.read()
    assert time.monotonic() - began < 0.15
    assert first["missing"] == ["not yet read", ""]
    answer = _until(runner, lambda answer: answer["hangs"])
    assert answer["missing"][0] == "timed out"


class _Unkillable:
    """A child in state D: killing it changes nothing."""

    is_gone = False

    def poll(self):
        return 0 if self.is_gone else None

    stdout = stderr = None


def test_b10_after_three_hangs_it_is_left_alone_until_they_are_gone(script, monkeypatch):
    script(GOOD)
    runner = smi.Smi()
    _until(runner, lambda answer: answer["text"])
    stuck = _Unkillable()
    runs = []

    def hang(argv, timeout_s):
        del timeout_s
        runs.append(argv)
        raise children.HungError(argv, cast("Any", stuck))

    with monkeypatch.context() as patch:
        patch.setattr(children, "run", hang)
        answer = _until(runner, lambda answer: answer["given_up"])
        asked = len(runs)
        for _ in range(3):
            answer = runner.read(wait_s=0.05)
        assert len(runs) == asked == smi.HANGS_MAX
    assert answer["missing"][0] == "timed out"
    assert answer["text"] == "0, GPU-a, NVIDIA GB10\n", "the last good answer is kept"
    assert answer["age_s"] > 0
    stuck.is_gone = True
    assert _until(runner, lambda answer: answer["missing"] is None)["given_up"] is False


def test_b10_a_hung_nvidia_smi_costs_the_sample_nothing(tmp_path):
    path = tmp_path / "nvidia-smi"
    path.write_text(HANGING)
    path.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "LD_LIBRARY_PATH": str(tmp_path)}
    with RunningAgent(env=env) as agent:
        stream = agent.send("sample", interval_s=0.1, slow_every=1)
        items = [agent.item(stream) for _ in range(6)]
    assert items[-1]["mono"] - items[0]["mono"] < 2
    assert all(item["smi"]["missing"][0] == "not yet read" for item in items)
    assert all(item["host"]["cpu_count"] for item in items)
