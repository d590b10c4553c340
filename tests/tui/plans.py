"""Plans, and how they ended: the start of the story, and its crash."""

from __future__ import annotations

from dataclasses import replace

from specctl.domain.open_loop import ArrivalKind, OpenLoop
from specctl.domain.plan import Plan, Step, passed, refused, warned
from specctl.domain.probe import ProbeResult, RequestResult
from specctl.domain.proof import Proof
from specctl.domain.server import Milestone
from specctl.facts.diagnosis import Cause
from specctl.services.outcome import Outcome
from specctl.tui.services import (
    ProfileChoice,
)
from tests.tui import parts

PROFILES = (
    ProfileChoice(
        "kimi-k2.5-baseline", None, "moonshotai/Kimi-K2.5", note="58.6 tok/s on pro6k-02"
    ),
    ProfileChoice(
        "kimi-k2.5-eagle3", "EAGLE3", "moonshotai/Kimi-K2.5", 1, 2, "slower on pro6k-01, 0.89×"
    ),
    ProfileChoice("kimi-k2.5-ngram", "NGRAM", "moonshotai/Kimi-K2.5", 0, 3, "starting on pro6k-03"),
    ProfileChoice("qwen3-4b-ngram", "NGRAM", "Qwen/Qwen3-4B"),
)


COMMAND = (
    "/opt/sglang-0.5.23/bin/python",
    "-m",
    "sglang.launch_server",
    "--model-path",
    "moonshotai/Kimi-K2.5",
    "--tp-size",
    "8",
    "--trust-remote-code",
    "--speculative-algorithm",
    "NGRAM",
    "--speculative-num-draft-tokens",
    "8",
    "--mem-fraction-static",
    "0.90",
    "--host",
    "127.0.0.1",
    "--port",
    "30000",
    "--enable-metrics",
)


def start_plan(
    host: str = "pro6k-01", profile: str = "kimi-k2.5-ngram", *, kind: str = "replace"
) -> Plan:
    """A start that stops what runs, with the requests of others on it."""
    stops = (parts.server(),) if kind == "replace" else ()
    before = (
        Step(
            "stop 7c1e",
            "stop the server",
            "abort requests, SIGTERM, wait 30 s, SIGKILL",
            True,
            20.0,
        ),
        Step(
            "prove 7c1e",
            "prove that it is gone",
            "processes, ports, 711 GiB of GPU memory",
            expected_s=5.0,
        ),
    )
    return Plan(
        id="9b02aa17",
        host=host,
        kind=kind,  # type: ignore[arg-type]
        profile=profile,
        steps=(
            *(before if stops else ()),
            Step("launch", "launch", "detached; log kept in launches/9b02aa17", expected_s=1.0),
            Step(
                "ready",
                "wait until ready",
                "weights, memory pool, graphs, warm-up",
                expected_s=330.0,
            ),
        ),
        checks=(
            *(
                passed(name, f"{name} is as it should be")
                for name in ("python", "ports", "disk", "shm", "model")
            ),
            warned(
                "forecast", "Forecast: accept length 1.2, break-even 1.7. This will be slower.", ""
            ),
            warned(
                "NG-2", "The engine sets speculative-eagle-topk to 10 (the n-gram breadth).", ""
            ),
            warned("NG-7", "The n-gram tables take 14 GiB of host memory; 1.1 TiB is free.", ""),
        ),
        argv=COMMAND,
        environment={"HF_TOKEN": "••••"},
        ports=(30000,),
        gpus=tuple(range(8)),
        stops=stops,
        expected_s=356.0 if stops else 331.0,
        expected_from="3 earlier loads here",
        needs_typed=host if stops else None,
        why_typed="Requests of others are running." if stops else "",
        default_is_safe=not stops,
    )


def refused_plan() -> Plan:
    """A start that would be known to fail."""
    plan = start_plan(kind="start")
    bad = refused("port", "Port 30000 is held by pid 5123 of mkl.", "Choose another with --port.")
    return Plan(**{f: getattr(plan, f) for f in plan.__slots__} | {"checks": (*plan.checks, bad)})


EXCERPT = (
    "[2027-01-15 14:01:58 TP3] KV Cache is allocated. #tokens: 431104, KV size: 56.60 GB",
    "[2027-01-15 14:02:01 TP3] Memory pool end. avail mem=7.02 GB",
    "[2027-01-15 14:02:08 TP3] Capture target verify CUDA graph begin. bs=[1, 2, 4, 8, 16, 24, 48]",
    "[2027-01-15 14:02:11 TP3] Scheduler hit an exception: Traceback (most recent call last):",
    '  File "/opt/sglang/srt/managers/scheduler.py", line 3098, in run_scheduler_process',
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.10 GiB. GPU 3 has 1.38 GiB"
    " free.",
    "Possible solutions: 1. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)",
    "[2027-01-15 14:02:12] Received sigquit from a child process. It usually means the child"
    " failed.",
)


REACHED = (
    (Milestone.LAUNCHED, 0.0),
    (Milestone.ARGUMENTS, 7.0),
    (Milestone.DISTRIBUTED, 9.0),
    (Milestone.WEIGHTS, 12.0),
    (Milestone.MEMORY_POOL, 290.0),
    (Milestone.GRAPH_CAPTURE, 295.0),
)


def crashed_outcome() -> Outcome:
    """Out of memory while capturing graphs."""
    cause = Cause(
        summary="Out of GPU memory while capturing CUDA graphs",
        line=EXCERPT[5],
        line_number=826,
        rank="TP3",
        phase=Milestone.GRAPH_CAPTURE,
        next_step="Set mem-fraction-static to 0.92 or less in the profile, or capture fewer batch"
        " sizes with cuda-graph-max-bs.",
        kind="gpu-memory",
    )
    return Outcome(
        "9b02aa17",
        "pro6k-01",
        succeeded=False,
        words=cause.summary,
        hint=cause.next_step,
        server="9b02",
        proofs=(
            Proof(True, "Gone: 11 of 11 processes, 3 of 3 ports, 711 GiB of GPU memory, in 4.2 s."),
        ),
        cause=cause,
        exit_status=0,
        log_path="/var/tmp/specctl/launches/9b02aa17/server.log",
        log_excerpt=EXCERPT,
        reached=REACHED,
        elapsed_s=298.0,
    )


def probe_result() -> ProbeResult:
    """32 requests of pro6k-01."""
    requests = tuple(
        RequestResult(i, "all", 900, 128, 0, 85, 43, 255, None, 2.46, 2.47, 0.412)
        for i in range(32)
    )
    return ProbeResult(
        server="7c1e",
        profile="kimi-k2.5-eagle3",
        concurrency=1,
        requests=requests,
        wall_s=78.9,
        tokens_per_s=51.9,
        tokens_per_s_per_request=52.1,
        accept_length=1.5,
        accept_length_per_request=1.51,
        accept_length_reported=1.51,
        histogram=(1686, 789, 163, 82),
        ttft_p50_s=0.412,
        ttft_p95_s=0.64,
        inter_token_p50_s=0.0289,
        inter_token_p95_s=0.0312,
        step_s=0.0288,
        cached_tokens=0,
        client_cpu_percent=3.1,
        notes=("radix cache flushed before the window",),
        identity_key="boot-1 48213",
        energy_j=186_000.0,
        energy_per_token_j=45.4,
        energy_source="the driver's energy counters",
    )


def rate_result() -> ProbeResult:
    """The same at a rate that is too high for it."""
    found = OpenLoop(
        asked_per_s=0.5, kind=ArrivalKind.POISSON, seed=0, most_in_flight=256,
        offered_per_s=0.52, achieved_per_s=0.41, reached_in_flight=9, waited=0, wait_p95_s=0.001,
        ttft_p99_s=9.1, inter_token_p99_s=0.071, e2e_p50_s=11.2, e2e_p95_s=19.8, e2e_p99_s=21.4,
        keeps_up=False,
        pace="when the last request came, 19 were answered, of 28 at the pace of the first "
        "quarter: the queue grows",
    )  # fmt: skip
    return replace(probe_result(), open_loop=found, ttft_p50_s=4.12, ttft_p95_s=8.8)


def stop_plan() -> Plan:
    """A stop of our own server."""
    plan = start_plan()
    return Plan(
        id="51aa00ff",
        host="pro6k-01",
        kind="stop",
        profile="kimi-k2.5-eagle3",
        steps=plan.steps[:2],
        checks=(),
        stops=(parts.server(),),
        target=parts.server(),
        expected_s=25.0,
        default_is_safe=False,
    )
