"""One example of every published JSON object, from fixed values through the code that prints it.

`python -m tests.unit.cli.examples` writes them to tests/data/golden and the schemas to schema/.
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from specctl.adapters.recipe import Recipe, Row
from specctl.agent.oneshot import proc, recorder, records, statedir
from specctl.cli import breakeven, check, checkpoint, doctor, drift, show
from specctl.cli.documents import DOCUMENTS, SCHEMAS
from specctl.cli.output import write_json
from specctl.cli.plan_text import outcome_json, plan_json
from specctl.domain import doctor as examination
from specctl.domain.alerts.published import open_alerts
from specctl.domain.breakeven import Typed, curve, work_out
from specctl.domain.checkpoint.judging import judge
from specctl.domain.checkpoint.values import (
    Checkpoint,
    ModelConfig,
    Pairing,
    Tensor,
    TokenCounts,
    Tokens,
    WeightsForm,
)
from specctl.domain.command import shell_lines
from specctl.domain.comparison import Arm, Comparison, Unasked
from specctl.domain.drift import BuildNow, DriftSources, Rewrite, ServerDrift, find_drift
from specctl.domain.events import (
    AlertsChanged,
    Event,
    HostDescribed,
    HostRemoved,
    HostSampled,
    LinkChanged,
    LogRead,
    PlanProgressed,
    ProbeFinished,
    ProbeProgressed,
    ServerSampled,
    ServersSeen,
    TrialProgressed,
)
from specctl.domain.launch_record import LaunchRecord, LoadTimes
from specctl.domain.lint.build import Build
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import Missing, Why
from specctl.domain.plain import plain, plain_event
from specctl.domain.plan import MASK, Plan, SecretUse, Step, passed, warned
from specctl.domain.probe_json import comparison_json, probe_json
from specctl.domain.probing import Window, add_up
from specctl.domain.problem import Problem
from specctl.domain.profile import Origin, Profile, Speculation
from specctl.domain.proof import Proof, Survivor
from specctl.domain.published import Corpora, LabHosts, PracticeHost, Statuses
from specctl.domain.run_sheet import differences_of
from specctl.domain.runs import Provenance, Run, RunKind, RunList, brief
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, MigDevice, Sample, ServerSample
from specctl.domain.server import Evidence, Identity, Milestone, Server, ServerState
from specctl.domain.simulated_acceptance import NOT_THE_MODELS, ForcedReport, ForcedRow
from specctl.domain.source import Place, Tree
from specctl.domain.state import State, reduce
from specctl.domain.trial import trial_json
from specctl.domain.trial.published import publish
from specctl.domain.trial.screening_published import publish_screening
from specctl.domain.trial.screening_running import stand_screening
from specctl.domain.trial.summary import summarise
from specctl.facts.diagnosis import Cause
from specctl.services.checkpoint import CheckedDraft
from specctl.services.doctoring import Examination
from specctl.services.linting import Verdict, as_finding
from specctl.services.outcome import Outcome
from specctl.services.runs import sheet_of_run
from tests.unit.cli.source_examples import SOURCE_EXAMPLES
from tests.unit.cli.value_examples import VALUE_EXAMPLES
from tests.unit.domain.requests import request, speculated, streamed
from tests.unit.domain.trial.runs import trial_blocks, trial_plan
from tests.unit.domain.trial.screenings import screened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests/data/golden"
NOW_S = 1_800_000_000.0
GIB = 2**30
BOOT_ID = "3f0c8a52-7d4e-4b7a-9c55-0d6f1a2b3c4d"
MAIN = Identity(BOOT_ID, 4211, 88_123, 4211, 4211, "5c0ffee1")
SCHEDULER = Identity(BOOT_ID, 4290, 88_240, 4211, 4211, "5c0ffee1")
ARGV = (
    "/opt/venv/bin/python", "-m", "sglang.launch_server", "--model-path", "moonshotai/Kimi-K2.5",
    "--tp-size", "8", "--speculative-algorithm", "EAGLE3", "--port", "30000",
)  # fmt: skip
REACHED = ((Milestone.WEIGHTS, 283.1), (Milestone.GRAPH_CAPTURE, 311.9), (Milestone.READY, 332.0))

GPU = GpuSample(
    index=0,
    uuid="GPU-5f3c",
    name="NVIDIA RTX PRO 6000 Blackwell Server Edition",
    utilization_percent=97,
    memory_total_bytes=96 * GIB,
    memory_used_bytes=89 * GIB,
    memory_reserved_bytes=GIB,
    memory_scheme="v2",
    power_w=231.5,
    power_limit_w=600,
    temperature_c=61,
    throttle=("heat (hw)",),
    pcie_rx_bytes_per_s=3.1e9,
    mig=False,
    mig_devices=(MigDevice("MIG-1", "1g.12gb", 12 * GIB, None, Missing(Why.NO_PERMISSION)),),
    processes=(GpuProcess(4290, 88 * GIB, "compute", "serve", "sglang::scheduler_TP0"),),
    missing={
        "energy_j": Missing(Why.NOT_SUPPORTED),
        "ecc_uncorrected": Missing(Why.ERROR, "nvmlDeviceGetFieldValues: Unknown Error"),
    },
)
SAMPLE = Sample(
    time_s=NOW_S - 0.2,
    host=HostSample(
        cpu_percent=12.5, cpu_count=128, missing={"load_1min": Missing(Why.NOT_INSTALLED, "psutil")}
    ),
    gpus=(GPU, GpuSample(1, "GPU-77aa", "", lost=True, missing={"power_w": Missing(Why.LOST)})),
    gpu_source="nvml",
    driver="575.57.08",
    cost_ms=1.4,
)
SERVER = Server(
    name="5c0f",
    state=ServerState.BUSY,
    identity=MAIN,
    is_ours=True,
    owner="serve",
    port=30000,
    gpus=(0, 1, 2, 3, 4, 5, 6, 7),
    model="moonshotai/Kimi-K2.5",
    version="0.5.23",
    profile="kimi-k2.5-eagle3",
    launch_id="5c0ffee1",
    launched_by="aw@laptop",
    argv=ARGV,
    log_path="/home/serve/.local/state/specctl/launches/5c0ffee1/server.log",
    milestone=Milestone.READY,
    algorithm="EAGLE3",
    pids=(4211, 4290),
    evidence=Evidence(process_alive=True, port_open=True, http="200", running_requests=3),
    why="process, port, log and HTTP agree",
    missing={"bind_address": Missing(Why.NOT_YET)},
)
NUMBERS = ServerSample(
    time_s=NOW_S,
    source="/v1/loads",
    tokens_per_s=52.1,
    accept_length=1.5,
    accept_length_scope="interval",
    running_requests=3,
    missing={"ttft_p50_s": Missing(Why.NOT_ENABLED, "--enable-metrics")},
)


def _arm(profile: str, algorithm: str | None, latency_s: float, histogram: Any) -> Arm:
    timed = {"server_ttft_s": 0.25, "server_latency_s": latency_s, "text": "The"}
    requests = [
        request(index=n, completion_tokens=101, text_sha256=f"{n}e", **timed)
        if histogram is None
        else speculated(histogram, index=n, completion_tokens=101, text_sha256=f"{n}e", **timed)
        for n in range(2)
    ]
    window = Window(
        "5c0f", profile, 1, algorithm, 4.5, 0.125, 0.001, NOW_S, f"{BOOT_ID} 4211 88123",
        "flushed before the window", "mixed", "9d1c", 0.0, "the host's own chat template",
    )  # fmt: skip
    chunks = [streamed([(0.25, 1), (0.3125, 2), (0.375, 2)], index=2)]
    result = add_up(window, requests, chunks, notes=("one launch",))
    return Arm(profile, algorithm, result, steps=3 if algorithm else None, load_s=332.0)


BASELINE = _arm("kimi-k2.5-baseline", None, 2.25, None)
EAGLE = _arm("kimi-k2.5-eagle3", "EAGLE3", 1.75, (0, 30, 20, 0))
COMPARISON = Comparison(
    "gpu8",
    "mixed",
    1,
    (BASELINE, EAGLE, Arm("kimi-k2.5-ngram", "NGRAM", failure="Out of GPU memory", hint="Less.")),
    (Unasked("kimi-k2.5-eagle3", "max-running-requests", 2048, 48),),
    ("5c0f ran before and runs again",),
)
assert EAGLE.result is not None

EVENTS: tuple[Event, ...] = (
    HostDescribed("gpu8", NOW_S, {"site": "basement"}, read_only=True),
    HostRemoved("l40s", NOW_S),
    LinkChanged("gpu8", NOW_S, "lost", "no answer to 3 keepalives", "Check sshd.", NOW_S + 6),
    HostSampled("gpu8", NOW_S, SAMPLE),
    ServersSeen("gpu8", NOW_S, (SERVER,)),
    ServerSampled("gpu8", NOW_S, "5c0f", NUMBERS),
    LogRead("gpu8", NOW_S, "5c0f", ("[TP0] Load weight end. elapsed=283.14 s",)),
    PlanProgressed("gpu8", NOW_S, "5c0ffee1", "ready", "progress", "weights 12/62", 71.5, 260.0),
    ProbeProgressed("gpu8", NOW_S, "5c0f", "measuring", 12, 40),
    ProbeFinished("gpu8", NOW_S, "5c0f", EAGLE.result),
    TrialProgressed(
        "gpu8", NOW_S, "5c0ffee2", "base", "eagle3", 6, 16, 1.31, 1.27, 1.35, "faster",
        "launch 6 measured",
    ),
    AlertsChanged(
        "gpu8", NOW_S, "throttle", is_open=True, words="GPU 5 slowed by heat (hw)",
        severity="warning", value="88 °C, 1.71 GHz", hint="look at cooling",
    ),
)  # fmt: skip


KEPT = Run(
    "5c0ffee2", RunKind.TRIAL, "gpu8", ("base", "eagle3"), NOW_S, NOW_S + 5400, "faster",
    Provenance(
        "0.1.0", "op@laptop", "gpu8", driver="580.82", gpus=("H200",), gpu_clocks_mhz=(1980,),
        build="0.5.23", profiles={"base": 'model = "m"\n'}, recipes={"base": "a1b2c3d4e5f6"},
        arguments={"base": {"tp_size": 8}}, workload="mixed", workload_sha256="0" * 64,
    ),
    trial_json.plan_json(trial_plan(3)),
)  # fmt: skip


def _runs_differ() -> Any:
    other = replace(
        KEPT,
        id="0ddba11a",
        outcome="no material difference",
        provenance=replace(KEPT.provenance, build="0.5.10", arguments={"base": {"tp_size": 4}}),
    )
    return plain(differences_of(sheet_of_run(KEPT), sheet_of_run(other)))


def _trial() -> Any:
    summary = summarise(trial_plan(3), trial_blocks(3, speedup=1.3))
    return plain(publish(summary, verdict="faster"))


def _screening() -> Any:
    plan, blocks = screened()
    summary = summarise(trial_plan(3), trial_blocks(3, speedup=1.3))
    trial = publish(summary, verdict="faster")
    standing = stand_screening(plan, blocks)
    return plain(publish_screening(plan, standing, trial_id="5c0ffee2", trial=trial))


def _forced() -> Any:
    rows = (
        ForcedRow(1.5, 1.5, 0.0288, 1.68, 0.9),
        ForcedRow(2.0, 2.01, 0.0289, 1.69, 1.18),
        ForcedRow(3.0, None, None, None, None, "eagle3~3: out of memory"),
    )
    return plain(
        ForcedReport(
            host="gpu8", profile="eagle3", baseline="base", variable="SGLANG_SIMULATE_ACC_LEN",
            workload="mixed", concurrency=1, base_s=0.0171, rows=rows, break_even=1.685,
            crossing=1.68, run="f0rced00", interrupted=False, restored=(), notes=(NOT_THE_MODELS,),
        )
    )  # fmt: skip


def _breakeven() -> Any:
    typed = Typed(base_ms=16, tps=52, accept_length=1.625, accuracy=0.75, steps=3)
    return plain(breakeven.published(work_out(typed), curve(typed, accuracies=(0.0, 0.5, 1.0))))


def _checkpoint() -> Any:
    ids = (0, 3, 4, 9)
    config = ModelConfig(
        architectures=("LlamaForCausalLMEagle3",), model_type="llama", hidden_size=64, layers=1,
        heads=4, kv_heads=2, head_dim=16, vocab_size=16, draft_vocab_size=4, end_tokens=(9,),
    )  # fmt: skip
    tensors = (
        Tensor("d2t", "I64", (4,), 0, 32),
        Tensor("fc.weight", "BF16", (64, 192), 32, 24_608),
        Tensor("lm_head.weight", "BF16", (4, 64), 24_608, 25_120),
    )
    draft = Checkpoint(
        "org/draft", "/hub/models--org--draft/snapshots/9d1c", "9d1c", WeightsForm.SAFETENSORS,
        {"config.json": 700, "model.safetensors": 25_400}, config, tensors,
        frozenset(tensor.name for tensor in tensors), True, (0, 2, 2, 6),
    )  # fmt: skip
    target = Checkpoint(
        "/models/target", "/models/target", None, WeightsForm.SAFETENSORS, {"config.json": 700},
        replace(config, architectures=("LlamaForCausalLM",), draft_vocab_size=None, layers=32),
        tokens=Tokens(specials={9: "</s>"}, end_tokens=(9,)),
        missing={"generation_config.json": Missing(Why.MALFORMED, "no JSON object")},
    )  # fmt: skip
    other = replace(draft, name="org/older", d2t=(1, 2, 2, 6))
    counts = TokenCounts(dict.fromkeys((*ids, 5), 2), "ids of answers.jsonl")
    pairing = Pairing(target, draft, "EAGLE3", other, transcript=counts, tp_size=2)
    found = CheckedDraft(
        "gpu8", pairing, is_algorithm_asked=False, findings=judge(pairing), bytes_read=41_204,
        table_bytes=64, elapsed_s=0.125,
    )  # fmt: skip
    return plain(checkpoint.published(found))


def _drift() -> Any:
    speculation = Speculation("EAGLE3", {"num-steps": 4})
    profile = Profile(
        "kimi-k2.5-eagle3", "moonshotai/Kimi-K2.5", arguments={"tp-size": 8},
        speculation=speculation, file="profiles/kimi-k2.5-eagle3.toml",
        origins={"speculation.num-steps": Origin("profiles/kimi-k2.5-eagle3.toml", 9)},
    )  # fmt: skip
    record = LaunchRecord(
        "5c0ffee1", MAIN, profile=profile.name, profile_hash="9d1c", argv=ARGV, version="0.5.22"
    )
    build = BuildNow("/opt/venv/lib/sglang", "0.5.23", 2, ("srt/server_args.py",))
    rewrite = Rewrite("max-running-requests", "256", "48", "48 when speculating, not asked for")
    sources = DriftSources(
        profile, "77aa", None, record, (*ARGV, "--log-level", "debug"), None, (rewrite,), "0.5.22",
        build,
    )  # fmt: skip
    missing = {"environment": Missing(Why.NO_PERMISSION, "it may not be read")}
    server = ServerDrift(
        "gpu8", "5c0f", profile.name, "5c0ffee1", find_drift(sources), "0.5.22", build, missing
    )
    return plain(drift.published("gpu8", (server,)))


def _check() -> Any:
    file = "profiles/kimi-k2.5-eagle3.toml"
    whole = Problem("remotes/gpu8.toml", None, "", "is empty", is_warning=True)
    rewrite = Finding(
        Severity.REWRITE, "speculation.num-draft-tokens",
        "the server will change 8 to 4: num-steps + 1, for eagle-topk is 1", "write 4",
        "eagle-chain-tokens", "0.4.6.post5 and later",
        Place("srt/arg_groups/speculative_hook.py", 1260), 'logger.warning("…")', file, 12,
        "kimi-k2.5-eagle3",
    )  # fmt: skip
    tree = Tree("/opt/venv/lib/python3.12/site-packages/sglang", "0.5.23", "9d1c5f0e")
    build = Build("0.5.23", is_assumed=False, tree=tree)
    return plain(check.checked(Verdict((rewrite, as_finding(whole)), build, "gpu8")))


def _doctor() -> Any:
    rows = (
        examination.Row("connect", examination.Level.PASS, "ssh, 41 ms"),
        examination.Row("gpus", examination.Level.WARN, "persistence mode off",
                        "sudo nvidia-smi -pm 1"),
    )  # fmt: skip
    return plain(doctor.examined((Examination("gpu8", rows),)))


def _show() -> Any:
    file = "profiles/kimi-k2.5-eagle3.toml"
    rows = (
        Row("model", "moonshotai/Kimi-K2.5", "profiles/kimi-k2.5-baseline.toml:2"),
        Row("arguments.cuda-graph-bs-decode", [1, 2, 4], f"{file}:5"),
        Row("arguments.api-key", "secret:serving", f"{file}:6"),
        Row("ready_timeout_s", 1800, None),
    )
    environment = {"CUDA_VISIBLE_DEVICES": "0,1"}
    secrets = {"argument:api-key": "secret serving (variable KEY)"}
    command = shell_lines(ARGV, environment)
    return plain(
        show.published(
            Recipe("kimi-k2.5-eagle3", "gpu8", "EAGLE-3", rows, ARGV, environment, secrets, command)
        )
    )


def _state() -> State:
    state = State()
    for event in EVENTS:
        if not isinstance(event, ProbeFinished):
            state = reduce(state, event)
    return state


def _status() -> Any:
    state = _state()
    return plain(Statuses({name: state.host(name) for name in ("gpu8", "l40s")}))


def _plan() -> Any:
    return plan_json(
        Plan(
            id="5c0ffee1",
            host="gpu8",
            kind="replace",
            profile="kimi-k2.5-eagle3",
            steps=(Step("stop 77aa", "stop 77aa", "drain, at most 60 s", is_destructive=True),),
            checks=(passed("disk", "812 GiB free"), warned("model", "not in the cache", "hf get")),
            argv=(*ARGV, "--config", "KEYS"),
            environment={"HF_TOKEN": MASK},
            secrets=(SecretUse("hf", "env:HF_TOKEN", "environment on stdin"),),
            ports=(30000, 30233),
            gpus=SERVER.gpus,
            stops=(SERVER,),
            target=SERVER,
            expected_s=332.0,
            expected_from="3 earlier loads here",
            needs_typed="gpu8",
            why_typed="3 requests of others run.",
            default_is_safe=False,
            recipe=Profile("kimi-k2.5-eagle3", model="moonshotai/Kimi-K2.5"),
            profile_hash="9d1c",
            times=LoadTimes(332.0, dict(REACHED), 3),
            state_dir="/home/serve/.local/state/specctl",
            identity=MAIN,
        )
    )


def _outcome() -> Any:
    survivor = Survivor(4290, "serve", "pid 4290 sglang::scheduler_TP0 (serve)")
    line = "torch.OutOfMemoryError: CUDA out of memory."
    return outcome_json(
        Outcome(
            plan_id="5c0ffee1",
            host="gpu8",
            succeeded=False,
            words="The server ended with status 1.",
            hint="Lower mem-fraction-static.",
            server="5c0f",
            proofs=(Proof(gone=False, words="Not gone.", survivors=(survivor,), elapsed_s=30.0),),
            cause=Cause(
                "Out of GPU memory", line, 812, "TP0", Milestone.WEIGHTS, "Less.", "memory"
            ),
            exit_status=1,
            log_path=SERVER.log_path,
            log_excerpt=(line,),
            reached=REACHED[:1],
            elapsed_s=283.9,
        )
    )


def _printed(name: str, payload: Mapping[str, Any]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        write_json(name, dict(payload))
    return out.getvalue()


def _printed_of(name: str, make: Callable[[], Mapping[str, Any]]) -> str:
    return _printed(name, make())


def _events() -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        for event in EVENTS:
            write_json("event", plain_event(event), lines=True)
    return out.getvalue()


@contextlib.contextmanager
def _host_of_records() -> Iterator[str]:
    """A state directory, on a host whose clock stands still and whose one process is known."""
    stat = proc.Stat(4211, "4211 (python) S 1 4211 4211 " + "0 " * 15 + "88123 ")
    clock = SimpleNamespace(time=lambda: NOW_S)
    with (
        tempfile.TemporaryDirectory() as state_dir,
        patch.object(proc, "read_stat", lambda _pid: stat),
        patch.object(proc, "boot_id", lambda: BOOT_ID),
        patch.object(records, "time", clock),
        patch.object(recorder, "time", clock),
        patch("os.getuid", lambda: 1000),
    ):
        yield state_dir


def _record(part: str) -> str:
    """The bytes of one file of a launch, written by what writes it on a host."""
    with _host_of_records() as state_dir:
        directory = Path(state_dir, "launches", "5c0ffee1")
        directory.mkdir(parents=True)
        asked = {"action": "write", "state_dir": state_dir, "launch_id": "5c0ffee1", "part": part}
        match part:
            case "launch":
                value = recorder._record_of(
                    {"launch_id": "5c0ffee1", "record": _launch()}, 4211, str(SERVER.log_path)
                )
                statedir.write_json(str(directory / "launch.json"), value)
            case "exit":
                recorder._write_exit(str(directory), "5c0ffee1", 4211, 9)
            case "ready":
                records.main({**asked, "value": {"reached": dict(REACHED), "ready_after_s": 332.0}})
            case "stop":
                records.main({**asked, "value": {"asked_by": "aw@laptop"}})
        return (directory / f"{part}.json").read_text()


def _launch() -> dict[str, Any]:
    return {
        "profile": "kimi-k2.5-eagle3",
        "profile_hash": "9d1c",
        "argv": list(ARGV),
        "model": "moonshotai/Kimi-K2.5",
        "port": 30000,
        "ports": [30000, 30233],
        "gpus": list(SERVER.gpus or ()),
        "launched_by": "aw@laptop",
        "version": "0.5.23",
    }


LAB = LabHosts(
    (
        PracticeHost("lab-1", 40231, "pcie-8", ("fish-shell", "slow-link:delay_ms=150.0")),
        PracticeHost("lab-2", 35417, "pcie-8", ()),
    ),
    4711,
)

EXAMPLES: Mapping[str, Callable[[], str]] = {
    "alerts": lambda: _printed("alerts", plain(open_alerts(_state(), ("gpu8",)))),
    "breakeven": lambda: _printed("breakeven", _breakeven()),
    "check": lambda: _printed("check", _check()),
    "checkpoint": lambda: _printed("checkpoint", _checkpoint()),
    "run": lambda: _printed("run", plain(KEPT)),
    "runs": lambda: _printed("runs", plain(RunList((brief(KEPT),)))),
    "rundiff": lambda: _printed("rundiff", _runs_differ()),
    "trial": lambda: _printed("trial", _trial()),
    "acceptance": lambda: _printed("acceptance", _forced()),
    "screening": lambda: _printed("screening", _screening()),
    "compare": lambda: _printed("compare", comparison_json(COMPARISON)),
    "corpora": lambda: _printed("corpora", plain(Corpora({"docs": 120_431, "code": None}))),
    "lab": lambda: _printed("lab", plain(LAB)),
    "drift": lambda: _printed("drift", _drift()),
    "doctor": lambda: _printed("doctor", _doctor()),
    "event": _events,
    "outcome": lambda: _printed("outcome", _outcome()),
    "plan": lambda: _printed("plan", _plan()),
    "probe": lambda: _printed("probe", probe_json(EAGLE.result)),  # type: ignore[arg-type]
    "show": lambda: _printed("show", _show()),
    "status": lambda: _printed("status", _status()),
    **{name: partial(_printed_of, name, make) for name, make in SOURCE_EXAMPLES.items()},
    **{name: partial(_printed_of, name, make) for name, make in VALUE_EXAMPLES.items()},
    **{part: partial(_record, part) for part in ("launch", "ready", "stop", "exit")},
}


def golden(name: str) -> Path:
    """Where the example called `name` is kept."""
    return GOLDEN / (f"{name}.jsonl" if name == "event" else f"{name}.json")


def schema_text(name: str) -> str:
    """A schema as it is kept."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


def write_all() -> None:
    """Write every example and every schema."""
    for name in DOCUMENTS:
        golden(name).write_text(EXAMPLES[name]())
    for name in SCHEMAS:
        (ROOT / f"schema/{name}.json").write_text(schema_text(name))


if __name__ == "__main__":
    write_all()
