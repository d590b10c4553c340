"""Examples of what is read and judged without a start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specctl.adapters.recipe import Recipe, Row
from specctl.cli import check, checkpoint, doctor, drift, show
from specctl.domain import doctor as examination
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
from specctl.domain.drift import BuildNow, DriftSources, Rewrite, ServerDrift, find_drift
from specctl.domain.launch_record import LaunchRecord
from specctl.domain.lint.build import Build
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import Missing, Why
from specctl.domain.plain import plain
from specctl.domain.problem import Problem
from specctl.domain.profile import Origin, Profile, Speculation
from specctl.domain.source import Place, Tree
from specctl.services.checkpoint import CheckedDraft
from specctl.services.doctoring import Examination
from specctl.services.linting import Verdict, as_finding
from tests.unit.cli.server_examples import ARGV, MAIN


def checkpoint_example() -> Any:
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


def drift_example() -> Any:
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


def check_example() -> Any:
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


def doctor_example() -> Any:
    rows = (
        examination.Row("connect", examination.Level.PASS, "ssh, 41 ms"),
        examination.Row("gpus", examination.Level.WARN, "persistence mode off",
                        "sudo nvidia-smi -pm 1"),
    )  # fmt: skip
    return plain(doctor.examined((Examination("gpu8", rows),)))


def show_example() -> Any:
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
