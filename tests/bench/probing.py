"""What a probe says against the server's own counters, and what sending costs the client.

Real SGLang on this machine's CPU, with the tiny model; both clients send the same prompts.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.request import urlopen

from specctl.adapters.secrets import Secrets
from specctl.adapters.workloads import read_bundled
from specctl.adapters.workspace import Workspace
from specctl.domain.events import ProbeProgressed
from specctl.domain.preflight import StartOptions
from specctl.domain.state import Store
from specctl.services.fleet import open_fleet
from specctl.services.host_reading import read_host
from specctl.services.launch import apply_launch, plan_launch
from specctl.services.probe_sending import MEASURING, STREAMING
from specctl.services.probing import Settings, probe_server
from specctl.services.stop import StopOptions, plan_stop, stop_server
from tests.bench.lab import folder
from tests.bench.measure import Measured, Side
from tests.live.conftest import ENVIRONMENT, MODELS, PYTHON, ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from specctl.domain.events import Event
    from specctl.domain.server import Server
    from specctl.domain.state import State
    from specctl.services.fleet import Fleet

PROBES = 2
REPEATS = 3
PROMPTS, ANSWER_TOKENS = 4, 1024
"""Of a probe: its answers take a second or two each, as on a GPU.

What SGLang does with a request before its own time begins, about 2 ms here, is in the probe's time.
"""

FEW, MANY = 4, 124
"""Requests of one run: what both need to begin is in either, the difference is for the requests."""

OUTPUT_TOKENS = 48
AT_A_TIME = 4
WITHIN_PERCENT = 0.5
HALF = 0.5
BENCH_SERVING = ROOT / "tests/sglang_cpu/bench_serving.py"
OURS = """\
import json, sys, time
from specctl.agent import probe
found, asked, before_s = [], json.load(sys.stdin), time.process_time()
probe.run(asked, found.append, lambda: False)
print("cpu_s", time.process_time() - before_s, file=sys.stderr)
assert all("error" not in item for item in found), found
"""


def probing() -> list[Measured]:
    """Start the server once; both rows are measured on it."""
    return asyncio.run(_probing())


async def _probing() -> list[Measured]:
    with folder() as made:
        async with served(made) as (fleet, server):
            apart = [await _apart_percent(fleet, server) for _ in range(PROBES)]
            port = server.port or 0
            streamed = await asyncio.to_thread(_clients, made, port, is_streamed=True)
            whole = await asyncio.to_thread(_clients, made, port, is_streamed=False)
    return [
        Measured("a probe's tok/s against the server's own counters", "% apart",
                 Side("specctl", tuple(apart)), None, WITHIN_PERCENT,
                 f"{ANSWER_TOKENS} tokens each over the end-to-end times of /metrics, one at a "
                 f"time; real SGLang on the CPU, load {os.getloadavg()[0]:.1f}"),
        _client_row("streamed", *streamed),
        _client_row("not streamed", *whole),
    ]  # fmt: skip


def _client_row(how: str, ours: tuple[float, ...], theirs: tuple[float, ...]) -> Measured:
    return Measured(
        f"client CPU of a request, {how}", "ms", Side("specctl", ours),
        Side("sglang.bench_serving", theirs), HALF,
        f"{OUTPUT_TOKENS} tokens each, {AT_A_TIME} at a time, without what a run needs to begin, "
        "and without its imports",
    )  # fmt: skip


@asynccontextmanager
async def served(made: Path) -> AsyncIterator[tuple[Fleet, Server]]:
    """Real SGLang on this machine, started and stopped as a user does."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    _write_workspace(made)
    (made / "home").mkdir()
    with mock.patch.dict(os.environ, HOME=str(made / "home"), SSH_AUTH_SOCK=""):
        async with open_fleet(Workspace(made / "ws"), Store()) as fleet:
            connection, secrets = await fleet.connect("here"), Secrets("secrets.toml", {})
            profile = fleet.workspace.profile("tiny-baseline", "here")
            plan = await plan_launch(
                connection, profile, StartOptions(port=port), secrets=secrets, clock=fleet.clock
            )
            outcome = await apply_launch(
                connection, plan, secrets=secrets, store=fleet.store, clock=fleet.clock
            )
            assert outcome.succeeded, outcome
            try:
                yield fleet, (await read_host(connection)).server(plan.id)
            finally:
                stop = await plan_stop(
                    connection, plan.id, StopOptions(now=True), clock=fleet.clock
                )
                await stop_server(connection, stop, store=fleet.store, clock=fleet.clock)


def _write_workspace(made: Path) -> None:
    remotes, profiles = made / "ws" / "remotes", made / "ws" / "profiles"
    remotes.mkdir(parents=True)
    profiles.mkdir()
    (remotes / "here.toml").write_text(
        f'transport = "local"\npython = "{PYTHON}"\ngpus = []\nstate_dir = "{made}/state"\n'
        f'hf_home = "{ENVIRONMENT}/hf"\n'
    )
    text = (ROOT / "profiles/tiny-baseline.toml").read_text().replace("{workspace}", str(ROOT))
    (profiles / "tiny-baseline.toml").write_text(text)
    shutil.copytree(ROOT / "schema", made / "ws" / "schema")


@dataclass(frozen=True, slots=True)
class Account:
    """What the server counted since its start."""

    tokens: float
    time_s: float
    """End-to-end times of its requests, added up."""


def account(port: int) -> Account:
    """Its /metrics now."""
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return Account(
        _total(text, "generation_tokens_total"), _total(text, "e2e_request_latency_seconds_sum")
    )


def _total(text: str, name: str) -> float:
    rows = re.findall(rf"^sglang:{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE)
    return sum(map(float, rows))


async def _apart_percent(fleet: Fleet, server: Server) -> float:
    """How far a probe's rate is from the counters' over the same requests."""
    accounts: dict[str, Account] = {}

    def take(event: Event, _state: State) -> None:
        if not isinstance(event, ProbeProgressed) or event.done:
            return
        if event.words in {MEASURING, STREAMING}:
            accounts[event.words] = account(server.port or 0)

    fleet.store.subscribe(take)
    tiny = read_bundled("tiny")
    prompts = tuple(replace(p, max_tokens=ANSWER_TOKENS) for p in tiny.prompts[:PROMPTS])
    settings = Settings(replace(tiny, prompts=prompts))
    result = await probe_server(
        await fleet.connect("here"), server, settings, store=fleet.store, clock=fleet.clock
    )
    before, after = accounts[MEASURING], accounts[STREAMING]
    tokens = after.tokens - before.tokens
    assert tokens == sum(request.completion_tokens or 0 for request in result.requests)
    counted = tokens / (after.time_s - before.time_s)
    return abs((result.tokens_per_s or 0.0) / counted - 1) * 100


def _clients(
    made: Path, port: int, *, is_streamed: bool
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Milliseconds of processor time for a request: ours, and those of SGLang's benchmark."""
    prompts = made / "prompts.jsonl"
    asked = [str(prompt.text) for prompt in read_bundled("tiny").prompts]
    texts = [f"{place}. {asked[place % len(asked)]}" for place in range(MANY)]
    turns = [[{"content": text}, {"content": "an answer that is not sent"}] for text in texts]
    prompts.write_text("\n".join(json.dumps({"conversations": pair}) for pair in turns))
    ours, theirs = [], []
    for _ in range(REPEATS):
        few, many = (_run_ours(port, texts[:n], is_streamed=is_streamed) for n in (FEW, MANY))
        ours.append(_each_ms(few, many))
        few, many = (_run_theirs(port, prompts, n, is_streamed=is_streamed) for n in (FEW, MANY))
        theirs.append(_each_ms(few, many))
    return tuple(ours), tuple(theirs)


def _each_ms(few_s: float, many_s: float) -> float:
    return (many_s - few_s) / (MANY - FEW) * 1000


def _run_ours(port: int, texts: list[str], *, is_streamed: bool) -> float:
    sampling = {"temperature": 0.0, "max_new_tokens": OUTPUT_TOKENS, "ignore_eos": True}
    requests: list[dict[str, Any]] = [
        {
            "index": place,
            "path": "/generate",
            "stream": is_streamed,
            "body": {"text": text, "sampling_params": sampling, "stream": is_streamed},
        }
        for place, text in enumerate(texts)
    ]
    params = {"url": f"http://127.0.0.1:{port}", "requests": requests, "concurrency": AT_A_TIME}
    return _cpu_s([sys.executable, "-c", OURS], json.dumps(params))


def _run_theirs(port: int, prompts: Path, count: int, *, is_streamed: bool) -> float:
    argv = [
        str(PYTHON), str(BENCH_SERVING), "--backend", "sglang",
        "--base-url", f"http://127.0.0.1:{port}", "--dataset-name", "custom",
        "--dataset-path", str(prompts), "--tokenizer", str(MODELS / "target"),
        "--num-prompts", str(count), "--sharegpt-output-len", str(OUTPUT_TOKENS),
        "--max-concurrency", str(AT_A_TIME), "--warmup-requests", "0", "--disable-tqdm",
        "--output-file", str(prompts.with_suffix(".out")),
        *([] if is_streamed else ["--disable-stream"]),
    ]  # fmt: skip
    return _cpu_s(argv, "")


def _cpu_s(argv: list[str], stdin: str) -> float:
    """User and system time of what a process says it sent with."""
    done = subprocess.run(
        argv, input=stdin, capture_output=True, text=True, cwd=ROOT, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return sum(float(found) for found in re.findall(r"^cpu_s (\S+)$", done.stderr, re.MULTILINE))


if __name__ == "__main__":
    for row in probing():
        print(row, flush=True)
        print(row.note)
