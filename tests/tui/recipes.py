"""A workspace's profiles and what they come to, to be read on the screens."""

from __future__ import annotations

from typing import Any

from specctl.adapters.recipe import Recipe, Row
from specctl.domain.command import shell_lines
from specctl.domain.drift import Cause, DriftRow, ServerDrift
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import Missing, Why
from specctl.domain.source import (
    Place,
)
from specctl.tui.reading import (
    Git,
    ProfileEntry,
    Profiles,
    ProfileSheet,
)
from tests.tui import plans
from tests.tui.library import ARGUMENTS

PROFILE_TEXT = """description = "EAGLE-3 with the drafter made for Kimi-K2"
model       = "moonshotai/Kimi-K2.5"
baseline    = "kimi-k2.5-baseline"

[arguments]
tp-size             = 8
trust-remote-code   = true
mem-fraction-static = 0.90
cuda-graph-max-bs   = 16
enable-metrics      = true

[speculation]
algorithm        = "EAGLE3"
draft-model-path = "drafters/kimi-k2-eagle3"
num-steps        = 3
eagle-topk       = 1
num-draft-tokens = 6

[env]
HF_TOKEN = "secret:hf"
"""
EAGLE_FILE = "profiles/kimi-k2.5-eagle3.toml"
FINDINGS = (
    Finding(
        Severity.ERROR, "arguments.cuda-graph-max-bs", "gone since 0.5.20",
        "write cuda-graph-max-bs-decode = 16", "removed-flag", "0.5.20 and later",
        Place(ARGUMENTS, 1084), 'raise ValueError("was split in two")', EAGLE_FILE, 9,
        nearest="cuda-graph-max-bs-decode",
    ),
    Finding(
        Severity.WARNING, "speculation.draft-model-path",
        "made for another model: 252 of 32,000 tokens agree",
        "use a drafter that was trained for moonshotai/Kimi-K2.5", "draft-vocabulary", "",
        None, "", EAGLE_FILE, 14,
    ),
    Finding(
        Severity.REWRITE, "speculation.num-draft-tokens",
        "the server will change num-draft-tokens from 6 to 4", "write 4, or raise num-steps to 5",
        "eagle-chain-draft-tokens", "0.4.6.post5 and later", Place(ARGUMENTS, 1319),
        "num_draft_tokens = num_steps + 1", EAGLE_FILE, 17,
    ),
    Finding(
        Severity.HINT, "", "no expectation is written", "add [expectation]", "no-expectation",
        file=EAGLE_FILE,
    ),
)  # fmt: skip
ROWS = (
    ("model", "moonshotai/Kimi-K2.5", 2),
    ("arguments.tp-size", 8, 6),
    ("arguments.trust-remote-code", True, 7),
    ("arguments.mem-fraction-static", 0.9, 8),
    ("arguments.cuda-graph-max-bs", 16, 9),
    ("arguments.enable-metrics", True, 10),
    ("speculation.algorithm", "EAGLE3", 13),
    ("speculation.draft-model-path", "drafters/kimi-k2-eagle3", 14),
    ("speculation.num-steps", 3, 15),
    ("speculation.eagle-topk", 1, 16),
    ("speculation.num-draft-tokens", 6, 17),
    ("env.HF_TOKEN", "secret:hf", 20),
    ("placement.port", 30000, None),
    ("expectation.accept_length", 2.5, None),
    ("expectation.speedup", 1.3, None),
)
ARGV = (
    "/opt/sglang-0.5.23/bin/python", "-m", "sglang.launch_server",
    "--model-path", "moonshotai/Kimi-K2.5", "--tp-size", "8", "--trust-remote-code",
    "--mem-fraction-static", "0.9", "--cuda-graph-max-bs", "16", "--enable-metrics",
    "--speculative-algorithm", "EAGLE3",
    "--speculative-draft-model-path", "drafters/kimi-k2-eagle3",
    "--speculative-num-steps", "3", "--speculative-eagle-topk", "1",
    "--speculative-num-draft-tokens", "6", "--port", "30000",
)  # fmt: skip


def recipe(name: str = "kimi-k2.5-eagle3", host: str | None = None, **changed: Any) -> Recipe:
    """What the profile comes to."""
    rows = tuple(
        Row(key, changed.get(key, value), f"profiles/{name}.toml:{line}" if line else None)
        for key, value, line in ROWS
    )
    argv = ARGV if "EAGLE" in str(changed.get("speculation.algorithm", "EAGLE3")) else plans.COMMAND
    environment = {"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}
    return Recipe(
        name, host, "EAGLE-3 with the drafter made for Kimi-K2", rows, argv, environment,
        {"env:HF_TOKEN": "secret hf (variable HF_TOKEN)"}, shell_lines(argv, environment),
    )  # fmt: skip


ENTRIES = (
    ProfileEntry(
        "kimi-k2.5-baseline", "profiles/kimi-k2.5-baseline.toml", None, "moonshotai/Kimi-K2.5",
        git=Git.CLEAN,
    ),
    ProfileEntry(
        "kimi-k2.5-eagle3", EAGLE_FILE, "EAGLE3", "moonshotai/Kimi-K2.5", "kimi-k2.5-baseline",
        Git.EDITED,
    ),
    ProfileEntry(
        "kimi-k2.5-ngram", "profiles/kimi-k2.5-ngram.toml", "NGRAM", "moonshotai/Kimi-K2.5",
        "kimi-k2.5-baseline", Git.CLEAN,
    ),
    ProfileEntry("qwen3-4b-ngram", "profiles/qwen3-4b-ngram.toml", "NGRAM", "Qwen/Qwen3-4B",
                 git=Git.NEW),
    ProfileEntry("scratch", "profiles/scratch.toml", git=Git.NEW, is_usable=False),
)  # fmt: skip
PROFILES = Profiles(ENTRIES, "4f2c1e9")


def sheet(name: str, host: str | None) -> ProfileSheet:
    """What is known of one profile."""
    against = "SGLang 0.5.23" if host else ""
    file = f"profiles/{name}.toml"
    if name == "scratch":
        finding = Finding(
            Severity.ERROR, "arguments", "not TOML: expected '=' after a key", "", file=file, line=2
        )
        return ProfileSheet(name, host, file, 'model = "x"\narguments\n', (finding,))
    if name == "kimi-k2.5-eagle3":
        findings = FINDINGS if host else FINDINGS[1:]
        return ProfileSheet(
            name, host, file, PROFILE_TEXT, findings, against, recipe=recipe(name, host)
        )
    text = PROFILE_TEXT.replace("EAGLE3", "NGRAM").replace("EAGLE-3 with", "n-grams, not")
    other = recipe(name, host, **{"speculation.algorithm": "NGRAM", "arguments.tp-size": 4})
    return ProfileSheet(name, host, file, text, (), against, recipe=other)


DRIFT = ServerDrift(
    "pro6k-01", "7c1e", "kimi-k2.5-eagle3", "7c1e2d90",
    (
        DriftRow(
            "speculative-num-steps", Cause.PROFILE, profile="5", launched="3",
            origin="profiles/kimi-k2.5-eagle3.toml:15",
        ),
        DriftRow(
            "version", Cause.UPGRADED, launched="0.5.20", running="0.5.20", resolved="0.5.23",
            words="/opt/sglang is 0.5.23 now; a new start would run that",
        ),
        DriftRow(
            "max-running-requests", Cause.ENGINE, running="64", resolved="48",
            words="speculation sets it to 48",
        ),
    ),
    missing={"environment": Missing(Why.NO_PERMISSION, "the process is of another user")},
)  # fmt: skip
