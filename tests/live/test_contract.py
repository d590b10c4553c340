"""The questions that the stand-in is asked, put to real SGLang: one launch for all of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.contract.questions import ARGUMENTS, NGRAM, QUESTIONS, Question
from tests.contract.shapes import differences
from tests.contract.subject import Ended, Reply, request
from tests.live.conftest import ENVIRONMENT, MODELS, PYTHON, ROOT, run_out
from tests.live.repeating import FILE, newest_probe, write_workload
from tests.ssh.sshd import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from specctl.domain.probe import ProbeResult
    from tests.live.conftest import Operator, Ran

pytestmark = [pytest.mark.live, pytest.mark.timeout(400)]
VERSION = "0.5.23"
ANSWERS: dict[str, Any] = json.loads((ROOT / f"tests/data/contract/{VERSION}.json").read_text())
COMMAND = ("-m", "sglang.launch_server")
KEY = "sk-by-hand-0123456789"
READY_S = 300
END_S = 60


class RealServer:
    """Real SGLang on this machine's CPU, as a subject."""

    version = VERSION

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.port, self._log = free_port(), folder / "server.log"
        argv = [str(PYTHON), *COMMAND, *arguments, "--port", str(self.port)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait(self) -> None:
        """Until it is ready, asking as a caller does who cannot see the log."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                if self.ask("GET", "/health").status == 200 and "ready to roll" in self.log():
                    return
            assert self.process.poll() is None, self.log()[-4000:]
            time.sleep(0.1)
        pytest.fail(f"not ready within {READY_S} s:\n{self.log()[-4000:]}")

    def ask(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Reply:
        return request(self.port, method, path, body, key=key or KEY)

    def log(self) -> str:
        """Without what others asked: who looks at all servers of this machine has no key here."""
        lines = self._log.read_text(errors="replace").splitlines(keepends=True)
        return "".join(line for line in lines if '" 401 ' not in line)

    def try_start(self, *arguments: str) -> Ended:
        return run_out((PYTHON, *COMMAND), arguments, "")

    def end(self) -> None:
        """Whatever is left of it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    if not ENVIRONMENT.is_dir():
        pytest.fail("real SGLang is not built: run `make sglang-cpu`")
    model = ("--model-path", str(MODELS / "target"))
    made = RealServer(
        tmp_path_factory.mktemp("contract"), *model, *ARGUMENTS, *NGRAM, "--api-key", KEY
    )
    try:
        made.wait()
        yield made
    finally:
        made.end()


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_real_sglang_answers_as_the_stand_in_is_held_to(server: RealServer, question: Question):
    assert differences(ANSWERS[question.name], question.put(server)) == []


def test_it_is_foreign_until_it_is_adopted_and_ends_with_status_0(
    server: RealServer, operator: Operator, twins: list[ProbeResult]
):
    """After every question. Its key reaches no screen, no file and no command line of ours."""
    operator.port = server.port
    found = operator.server()
    assert (found["is_ours"], found["state"]) == (False, "ready")
    refused = operator.run("stop", f"gpu/{operator.port}", "--yes")
    assert refused.status == 2
    assert f"--pid {server.process.pid}" in refused.err
    adopted = operator.ok(
        "adopt", "gpu", str(server.process.pid), "--write-profile", "by-hand", "--yes"
    )
    profile = (operator.folder / "ws/profiles/by-hand.toml").read_text()
    kept = [p.read_text(errors="replace") for p in (operator.folder / "state").rglob("*.json")]
    assert KEY not in "".join((adopted.out, adopted.err, profile, *kept))
    assert operator.server()["is_ours"] is True
    probed = _probe_with_key(operator)
    twins.append(newest_probe(operator))
    logs = operator.ok("logs", f"gpu/{operator.port}", "-n", "5000")
    assert "server_args=" in logs.out
    assert KEY not in logs.out + logs.err + probed.out + probed.err
    stopped = operator.ok("stop", f"gpu/{operator.port}", "--yes")
    assert stopped.out.startswith("Gone: ")
    assert server.process.wait(timeout=END_S) == 0


def _probe_with_key(operator: Operator) -> Ran:
    """The key is in the operator's own file; the adopted profile names it."""
    own = operator.folder / "home/.config/specctl"
    own.mkdir(parents=True)
    (own / "key").write_text(KEY)
    (own / "secrets.toml").write_text(f'api-key = {{ file = "{own / "key"}" }}\n')
    for path in own.iterdir():
        path.chmod(0o600)
    write_workload(operator)
    return operator.ok("probe", f"gpu/{operator.port}", "--workload", FILE, "--json")
