"""SGLang's own benchmark against the lab's stand-in: it completes, and both count alike."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest

from specctl.adapters.workloads import read_bundled
from specctl.lab.up import take_down
from tests.lab.practice import Practice
from tests.live.conftest import PYTHON, ROOT
from tests.ssh.sshd import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.timeout(240)]
BENCH = ROOT / "tests/sglang_cpu/bench_serving.py"
WITHIN = 0.01
PROMPTS, OUTPUT_TOKENS = 12, 64


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    if not PYTHON.exists():
        pytest.fail("real SGLang is not built: run `make sglang-cpu`")
    made = Practice(tmp_path_factory.mktemp("practice"))
    made.up()
    try:
        yield made
    finally:
        take_down(made.lab)


@dataclass(frozen=True)
class Account:
    """What a server counted since it was started: its metrics, added up over their labels."""

    requests: float
    read: float
    made: float
    verified: float

    @property
    def accept_length(self) -> float:
        """Tokens per verify step; the first of each request comes from its prefill."""
        return (self.made - self.requests) / self.verified


def account(port: int) -> Account:
    found: dict[str, float] = {}
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if match := re.match(r"sglang:(\w+)_total(?:\{.*\})? (\S+)$", line):
                found[match[1]] = found.get(match[1], 0.0) + float(match[2])
    names = ("num_requests", "prompt_tokens", "generation_tokens", "spec_verify_calls")
    return Account(*(found.get(name, 0.0) for name in names))


def bench(practice: Practice, port: int, *options: str) -> dict[str, Any]:
    """One run of the benchmark; what it wrote of it."""
    result = practice.home / "bench.jsonl"
    argv = [
        str(PYTHON), str(BENCH), "--backend", "sglang", "--base-url", f"http://127.0.0.1:{port}",
        "--dataset-name", "custom", "--dataset-path", str(workload(practice.home)),
        "--tokenizer", str(practice.lab.models / "kimi-k2.5"), "--num-prompts", str(PROMPTS),
        "--sharegpt-output-len", str(OUTPUT_TOKENS), "--max-concurrency", "4",
        "--output-file", str(result), "--disable-tqdm", *options,
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(result.read_text().splitlines()[-1])
    return found


def workload(folder: Path) -> Path:
    """Prompts in the benchmark's own form."""
    path = folder / "prompts.jsonl"
    with path.open("w") as file:
        for prompt in read_bundled("mixed").prompts:
            (_, asked), *_ = prompt.messages
            turns = [{"content": asked}, {"content": "and an answer that is not sent"}]
            file.write(json.dumps({"conversations": turns}) + "\n")
    return path


@pytest.mark.parametrize("profile", ["lab-eagle3-foreign", "lab-ngram"])
def test_the_benchmark_completes_and_counts_as_the_lab_does(practice: Practice, profile: str):
    port = free_port()
    started = practice.run("start", "lab-1", profile, "--port", str(port), "--yes")
    assert started.status == 0, started.err
    before = account(port)
    result = bench(practice, port, "--warmup-requests", "0")
    after = account(port)

    assert result["completed"] == PROMPTS
    assert result["total_output_tokens"] == pytest.approx(after.made - before.made, rel=WITHIN)
    assert result["total_input_tokens"] == pytest.approx(after.read - before.read, rel=WITHIN)
    assert result["accept_length"] == pytest.approx(after.accept_length, rel=WITHIN)
    stopped = practice.run("stop", f"lab-1/{port}", "--yes")
    assert "Gone: " in stopped.out
