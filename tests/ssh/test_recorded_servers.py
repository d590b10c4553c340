"""What `status` says of servers of several versions: recorded answers, real sshd, real command."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.ssh.operator_side import OperatorSide
from tests.ssh.sshd import free_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

RECORDED = Path(__file__).parent / "recorded.py"
CASES = Path(__file__).parents[1] / "data" / "cases"
OLD, NEW = "GET /get_server_info", "GET /server_info"
SPECULATING = ("--speculative-algorithm", "EAGLE")
UNAUTHORIZED = [401, '{"error":"Unauthorized"}']


def line_of(case: str, start: str) -> str:
    """What follows `start` in the line of a case that begins with it."""
    lines = (CASES / f"{case}.txt").read_text().splitlines()
    return next(line for line in lines if line.startswith(start)).removeprefix(start).strip()


class Seen:
    """What the operator is shown of the one recorded server."""

    def __init__(self, operator: OperatorSide, port: int, log: Path) -> None:
        self._log = log
        printed = operator.run("status", "gpu")
        found = operator.run("status", "gpu", "--json").json["hosts"]["gpu"]
        self.server = next(s for s in found["servers"] if s["port"] == port)
        name = self.server["name"]
        self.sample: dict[str, Any] = found["server_samples"][name]
        self.printed = [line for line in printed.out.splitlines() if line.strip().startswith(name)]

    @property
    def text(self) -> str:
        """Every printed line about it."""
        return "\n".join(self.printed)

    def asked(self, what: str) -> int:
        """How often it was asked that."""
        return self._log.read_text().count(f"asked {what}\n")


@pytest.fixture
async def serve(lab, tmp_path) -> AsyncIterator[Callable[..., Seen]]:
    """`serve(answers, *arguments)`: a server by hand with these answers, as `status` shows it."""
    await lab.server("gpu")
    operator = OperatorSide(lab)
    operator.write_host("gpu")
    script, answers, log = (
        tmp_path / "launch_server.py",
        tmp_path / "answers.json",
        tmp_path / "log",
    )
    shutil.copy(RECORDED, script)
    started: list[subprocess.Popen[bytes]] = []

    def start(known: dict[str, Any], *arguments: str) -> Seen:
        port = free_port()
        answers.write_text(json.dumps(known))
        argv = [sys.executable, str(script), "--model-path", "m", "--device", "cpu", *arguments]
        with log.open("w") as file:
            ends = ["--port", str(port), str(answers)]
            started.append(subprocess.Popen([*argv, *ends], stderr=file))
        return Seen(operator, port, log)

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a10_the_old_path_and_the_old_shape(serve):
    info = json.loads(line_of("A10", "v0.4.4 GET /get_server_info:"))
    seen = serve({OLD: [200, info]}, *SPECULATING)
    assert (seen.server["version"], seen.server["state"]) == ("0.4.4", "ready")
    assert seen.sample["accept_length"] == 3.41
    assert "3.41 (lifetime)" in seen.printed[0]


def test_a10_the_new_path_weighs_ranks_and_never_wakes_the_deprecated_one(serve):
    info = json.loads(line_of("A10", "v0.5.x GET /server_info:"))
    seen = serve({NEW: [200, info], "GET /ready": [200, ""]}, *SPECULATING)
    assert (seen.server["version"], seen.server["state"]) == ("0.5.23", "ready")
    assert "2.55 (lifetime, ranks 1.00-3.10)" in seen.printed[0]
    assert seen.asked(OLD) == 0


def test_a12_a_server_that_wants_a_key_is_up_and_says_so(serve):
    seen = serve(
        {"GET /health": [200, ""], NEW: UNAUTHORIZED, "GET /v1/loads": UNAUTHORIZED,
         "GET /metrics": UNAUTHORIZED, OLD: UNAUTHORIZED},
        *SPECULATING,
    )  # fmt: skip
    assert seen.server["state"] == "ready"
    assert "up, needs an API key" in seen.text
    assert seen.sample["accept_length"] is None
    assert "unauthorized" in seen.sample["missing"]["accept_length"]
    assert "— accept: unauthorized" in seen.text
    assert seen.asked("GET /health") == 0


def test_a23_a_gauge_that_nothing_moves_is_stale_not_a_rate(serve):
    text = (CASES / "A23.txt").read_text().partition("(second scrape")[0]
    info = {"version": "0.4.10", "internal_states": [{}]}
    answers = {"GET /metrics": [200, text], OLD: [200, info], NEW: [200, info]}
    seen = serve(answers, "--enable-metrics", *SPECULATING)
    assert seen.sample["tokens_per_s"] is None
    assert seen.sample["accept_length"] is None
    assert seen.sample["token_usage"] == 0
    assert "— tok/s: stale: nothing moved; gen_throughput still says 192.2" in seen.text
    assert "— accept: stale: nothing moved; the last report was 2.41" in seen.text


@pytest.mark.parametrize(
    ("start", "speculation", "words"),
    [
        ("before:", SPECULATING, "3.95 (lifetime)"),
        ("after flush + 5 decode steps:", SPECULATING, "no completed window"),
        ("speculation off:", (), "off"),
    ],
)
def test_a09_absent_is_told_from_off_and_from_a_number(serve, start, speculation, words):
    info = {**json.loads(line_of("A09", start)), "version": "0.5.2"}
    seen = serve({OLD: [200, info]}, *speculation)
    assert words in seen.text
    assert (seen.sample["accept_length"] is None) is (start != "before:")
