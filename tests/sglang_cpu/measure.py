"""Launch every configuration once, compare texts with the baseline, and print a table.

Usage: `.sglang-cpu/bin/python tests/sglang_cpu/measure.py [NAME ...]`; exits 1 when a text differs
or a server does not end cleanly. Needs about half a minute per configuration.
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from prompts import FOREIGN, KNOWN, REPETITIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMON = (
    "--model-path specctl/tiny-target --dtype float32 --attention-backend torch_native "
    "--max-total-tokens 20000 --max-running-requests 8 --enable-metrics --decode-log-interval 5"
)
EAGLE = (
    "--speculative-algorithm EAGLE --speculative-draft-model-path specctl/tiny-eagle "
    "--speculative-num-steps 3"
)
CONFIGURATIONS = {
    "baseline": "",
    "ngram": "--speculative-algorithm NGRAM --speculative-num-draft-tokens 8 "
    "--speculative-ngram-capacity 200000",
    "eagle": f"{EAGLE} --speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
    "eagle-tree": f"{EAGLE} --speculative-eagle-topk 4 --speculative-num-draft-tokens 8",
    "standalone": "--speculative-algorithm STANDALONE "
    "--speculative-draft-model-path specctl/tiny-draft --speculative-num-steps 3 "
    "--speculative-eagle-topk 1 --speculative-num-draft-tokens 4",
}
PROMPTS = {"known": KNOWN, "foreign": FOREIGN, "repetitive": REPETITIVE}
NEW_TOKENS = 128
READY_TIMEOUT_S = 180.0


@dataclass(slots=True)
class Row:
    """What one configuration gave; accept lengths and tokens per second by kind of prompt."""

    name: str
    ready_s: float = 0.0
    resident_bytes: int = 0
    exit_status: int | None = None
    stop_s: float = 0.0
    texts: list[str] = field(default_factory=list)
    accept_length: dict[str, float] = field(default_factory=dict)
    tokens_per_s: dict[str, float] = field(default_factory=dict)


def free_port() -> int:
    """A port nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ask(port: int, path: str, body: object = None) -> Any:
    """One HTTP exchange; JSON where the answer is JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read().decode()
        return json.loads(text) if "json" in answer.headers.get("Content-Type", "") else text


def wait_ready(process: subprocess.Popen[bytes], port: int) -> float:
    """Seconds until /health answers 200."""
    started = time.monotonic()
    while time.monotonic() - started < READY_TIMEOUT_S:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        with contextlib.suppress(OSError, urllib.error.URLError):
            ask(port, "/health")
            return time.monotonic() - started
        time.sleep(0.1)
    raise TimeoutError(f"not ready after {READY_TIMEOUT_S:.0f} s")


@contextlib.contextmanager
def server(row: Row, arguments: str) -> Iterator[int]:
    """A running server's port; fills in how it started and how it stopped."""
    port = free_port()
    command = [sys.executable, "-m", "sglang.launch_server", "--port", str(port)]
    log = Path(tempfile.gettempdir()) / f"sglang-cpu-{row.name}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, *COMMON.split(), *arguments.split()],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        row.ready_s = wait_ready(process, port)
        yield port
    finally:
        stopping = time.monotonic()
        process.send_signal(signal.SIGTERM)
        row.exit_status = process.wait(timeout=60)
        row.stop_s = time.monotonic() - stopping
        print(f"{row.name}: log in {log}", file=sys.stderr)


def generate(port: int, prompts: list[str]) -> tuple[list[str], float | None, float]:
    """Greedy texts one by one, the accept length over all of them, and tokens per second."""
    sampling = {"temperature": 0, "max_new_tokens": NEW_TOKENS}
    answers = [
        ask(port, "/generate", {"text": prompt, "sampling_params": sampling}) for prompt in prompts
    ]
    meta = [answer["meta_info"] for answer in answers]
    tokens = sum(each["completion_tokens"] for each in meta)
    steps = sum(each.get("spec_verify_ct", 0) for each in meta)
    seconds = sum(each["e2e_latency"] for each in meta)
    return (
        [answer["text"] for answer in answers],
        tokens / steps if steps else None,
        tokens / seconds,
    )


def measure(name: str) -> Row:
    """Launch, ask everything once, stop."""
    row = Row(name)
    with server(row, CONFIGURATIONS[name]) as port:
        for kind, prompts in PROMPTS.items():
            ask(port, "/flush_cache", {})
            texts, accept_length, row.tokens_per_s[kind] = generate(port, prompts)
            row.texts += texts
            if accept_length is not None:
                row.accept_length[kind] = accept_length
        for path in ("/server_info", "/v1/loads", "/metrics"):
            if not ask(port, path):
                raise RuntimeError(f"{path} is empty")
        listener = next(c.pid for c in psutil.net_connections() if c.laddr and c.laddr.port == port)
        main = psutil.Process(listener)
        family = [main, *main.children(recursive=True)]
        row.resident_bytes = sum(each.memory_info().rss for each in family)
    return row


def line(row: Row) -> str:
    """One row of the Markdown table in README.md."""
    kinds = [
        f"{row.accept_length.get(kind, 1):.2f} / {row.tokens_per_s[kind]:.0f}" for kind in PROMPTS
    ]
    cells = [row.name, f"{row.ready_s:.0f} s", f"{row.resident_bytes / 1e9:.1f} GB", *kinds]
    return f"| {' | '.join([*cells, f'{row.stop_s:.1f} s, {row.exit_status}'])} |"


def main(names: list[str]) -> int:
    """Baseline first: it is what the others are compared with."""
    rows = [measure("baseline")]
    print(f"| | ready | resident | {' | '.join(PROMPTS)} | SIGTERM |")
    print("|---" * (4 + len(PROMPTS)) + "|")
    print(line(rows[0]), flush=True)
    for name in names:
        rows.append(measure(name))
        print(line(rows[-1]), flush=True)
    wrong = [row.name for row in rows if row.texts != rows[0].texts or row.exit_status != 0]
    if wrong:
        print(f"different text or unclean end: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or [name for name in CONFIGURATIONS if name != "baseline"]))
