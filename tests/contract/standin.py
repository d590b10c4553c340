"""The lab's server as a subject: a lab host of its own, and processes that end with it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specctl.lab.laying import lay_tree
from specctl.lab.place import LabHost
from tests.contract.subject import Ended, Reply, request

FAST = {
    "imports": 0.0, "distributed": 0.01, "weights": 0.1, "draft_weights": 0.05,
    "memory_pool": 0.01, "capture": 0.1, "draft_capture": 0.05, "drain_poll": 0.1,
    "crash_pause": 0.2, "warm_up_pause": 0.2, "health": 0.05, "health_timeout": 0.5,
}  # fmt: skip
_TARGET = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "max_position_embeddings": 8192,
    "num_hidden_layers": 8, "num_attention_heads": 8, "num_key_value_heads": 8,
    "hidden_size": 512,
}  # fmt: skip


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def lay_python(folder: Path, version: str) -> Path:
    """An interpreter whose packages are the lab's for that release."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    lay_tree(next(folder.glob("lib/python*/site-packages")), version)
    return folder / "bin/python"


def lay_host(folder: Path, story: dict[str, Any], **more: Any) -> LabHost:
    """A lab host with one GPU kind and two models, `target` and `draft`."""
    for name in ("activity", "faults", "home/models"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    gpus = [
        {"index": index, "name": "NVIDIA H100 80GB HBM3", "uuid": f"GPU-{index}",
         "memory_bytes": 80 << 30, "is_lost": False}
        for index in range(8)
    ]  # fmt: skip
    scenario = {
        "schema": "specctl/lab-host/1", "name": "lab-1", "scenario": "test", "seed": 7,
        "gpus": gpus, "durations": FAST, **story, **more,
    }  # fmt: skip
    (folder / "scenario.json").write_text(json.dumps(scenario))
    lay_model(folder / "home/models/target")
    lay_model(folder / "home/models/draft", architectures=["LlamaForCausalLMEagle3"])
    return LabHost(folder)


def lay_model(path: Path, **changes: Any) -> None:
    path.mkdir(exist_ok=True)
    (path / "config.json").write_text(json.dumps({**_TARGET, **changes}))


@dataclass
class StandIn:
    """A server of the lab, started once and asked many things."""

    version: str
    python: Path
    host: LabHost
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log_path(self) -> Path:
        return self.host.folder / f"server-{self.port}.log"

    @property
    def model(self) -> str:
        return str(self.host.home / "models/target")

    @property
    def draft(self) -> str:
        return str(self.host.home / "models/draft")

    def argv(self, *arguments: str) -> list[str]:
        return [str(self.python), "-m", "sglang.launch_server", "--model-path", self.model,
                "--port", str(self.port), *arguments]  # fmt: skip

    def start(self) -> StandIn:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.host.home),
                       "SPECCTL_LAB_HOST": str(self.host.folder), **self.environment}  # fmt: skip
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                self.argv(*self.arguments), env=environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        return self

    def wait_for(self, words: str, timeout_s: float = 20) -> StandIn:
        """Until the log has these words."""
        until = time.monotonic() + timeout_s
        while words not in self.log():
            assert self.pid_status() is None, f"{self.pid_status()}: {self.log()[-1500:]}"
            assert time.monotonic() < until, self.log()[-1500:]
            time.sleep(0.02)
        return self

    def wait_until_ready(self) -> StandIn:
        return self.wait_for("fired up and ready to roll")

    def pid_status(self) -> int | None:
        """As `Popen` gives it; None while it lives."""
        assert self.process is not None
        return self.process.poll()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def children(self) -> list[int]:
        """The schedulers in their order, then the detokenizer."""
        found = []
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            found += [int(pid) for pid in (task / "children").read_text().split()]
        return found

    def wait_until_ended(self, timeout_s: float = 20) -> int:
        assert self.process is not None
        return self.process.wait(timeout_s)

    def end(self) -> None:
        """SIGKILL to the whole session."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    # ------------------------------------------------ as a subject
    def ask(
        self, method: str, path: str, body: Any = None, *, key: str | None = None,
        timeout_s: float = 60,
    ) -> Reply:  # fmt: skip
        return request(self.port, method, path, body, key=key, timeout_s=timeout_s)

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def try_start(self, *arguments: str) -> Ended:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.host.home),
                       "SPECCTL_LAB_HOST": str(self.host.folder), "COLUMNS": "80",
                       **self.environment}  # fmt: skip
        done = subprocess.run(
            self.argv(*arguments), env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30, check=False,
        )  # fmt: skip
        status = done.returncode if done.returncode >= 0 else 128 - done.returncode
        return Ended(status, done.stdout.decode(errors="replace"))
