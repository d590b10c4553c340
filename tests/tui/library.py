"""A build's source tree and a workspace's profiles, to be read on the screens; in our own words."""

from __future__ import annotations

from typing import Any

from specctl.adapters.recipe import Recipe, Row
from specctl.domain.command import shell_lines
from specctl.domain.drift import Cause, DriftRow, ServerDrift
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.missing import Missing, Why
from specctl.domain.source import (
    Algorithm,
    Flag,
    Place,
    ReadingProblem,
    Restriction,
    Tree,
    TreeFile,
)
from specctl.domain.topology import Topology
from specctl.tui.reading import (
    Git,
    Hit,
    Hits,
    ProfileEntry,
    Profiles,
    ProfileSheet,
)
from tests.tui import plans

ARGUMENTS, ENUM = "srt/server_args.py", "srt/speculative/spec_info.py"
NGRAM, TRIE = "srt/speculative/ngram_worker.py", "srt/speculative/cpp_ngram/ngram.h"

ENUM_TEXT = '''"""Which drafters there are."""

from __future__ import annotations

from enum import Enum, auto


class Drafter(Enum):
    """Which drafter proposes tokens, if any.

    A name is looked up without regard to case; plugins add their own.
    """

    NONE = auto()
    EAGLE = auto()
    EAGLE3 = auto()
    STANDALONE = auto()
    NGRAM = auto()
    DFLASH = auto()
    FROZEN_KV_MTP = auto()
    DSPARK = auto()

    @classmethod
    def named(cls, name: str | None) -> Drafter:
        if name is None:
            return cls.NONE
        try:
            return cls[name.upper()]
        except KeyError:
            found = registered(name)
            if found is None:
                raise ValueError(f"no drafter is called {name}, only {0x10} are")
            return found

    def needs_weights(self) -> bool:
        # n-gram tables are filled from the output itself
        return self not in (Drafter.NONE, Drafter.NGRAM)
'''

TRIE_TEXT = """#pragma once
#include <cstdint>
/* A node takes 184 bytes,
   children included. */
struct Node {
  uint32_t token = 0;  // of the vocabulary
  float weight{1.0f};
};
__global__ void match(const Node* nodes, int depth) {
  if (depth == 0) return;
}
"""

RULES = (
    (
        "device",
        "n-gram drafting needs a cuda, cpu or xpu device",
        1291,
        "refused",
        "device not in (cuda, cpu, xpu)",
    ),
    ("dp-attention", "n-gram drafting does not go with DP attention", 1303, "refused", ""),
    (
        "rewrite",
        "eagle-topk is set to ngram-max-bfs-breadth",
        1319,
        "warned",
        "algorithm == NGRAM",
    ),
    ("mixed-chunk", "mixed chunk is turned off", 1327, "warned", "enable_mixed_chunk"),
    (
        "rewrite",
        "max_running_requests is set to 48",
        1084,
        "warned",
        "max_running_requests is None",
    ),
)


def arguments_text(lines: int = 1400) -> str:
    """A long file whose lines say what the rules say they say."""
    out = [f"    option_{i} = {i}  # nothing of note" for i in range(1, lines + 1)]
    for _, words, line, _, condition in RULES:
        out[line - 2] = f"        if {condition or 'self.enable_dp_attention'}:"
        out[line - 1] = f'            logger.warning("{words}")'
    return "\n".join(out) + "\n"


TEXTS = {
    ENUM: ENUM_TEXT,
    TRIE: TRIE_TEXT,
    ARGUMENTS: arguments_text(),
    NGRAM: "import torch\n\n\nclass NgramWorker:\n    def draft(self):\n        return []\n",
}


def flag(name: str, kind: str | None, default: object, line: int, **more: object) -> Flag:
    """A flag of the arguments' file."""
    full = {"place": Place(ARGUMENTS, line)} | more
    return Flag(f"--{name}", kind, default, **full)  # type: ignore[arg-type]


FLAGS = (
    flag("model-path", "str", None, 90, help="Where the weights are.", is_required=True),
    flag("tp-size", "int", 1, 120, aliases=("--tensor-parallel-size",)),
    flag("mem-fraction-static", "float", None, 130),
    flag("enable-mixed-chunk", None, False, 140, is_switch=True),
    flag("speculative-algorithm", "str", None, 300, choices=("EAGLE", "EAGLE3", "NGRAM")),
    flag("speculative-draft-model-path", "str", None, 310, aliases=("--speculative-draft-model",)),
    flag("speculative-num-steps", "int", None, 320),
    flag("speculative-eagle-topk", "int", None, 330),
    flag("speculative-num-draft-tokens", "int", None, 340),
    flag("speculative-ngram-max-trie-depth", "int", 18, 400),
    flag("speculative-ngram-min-bfs-breadth", "int", 1, 410),
    flag("speculative-ngram-max-bfs-breadth", "int", 10, 420),
    flag(
        "speculative-ngram-match-type", "str", "BFS", 430, choices=("BFS", "PROB"),
        help="How a continuation is chosen: breadth first, or by probability.",
    ),
    flag("speculative-ngram-capacity", "int", 10_000_000, 440),
    flag("speculative-ngram-external-corpus-path", "str", None, 450),
    flag("speculative-attention-mode", "str", "prefill", 460, choices=("prefill", "decode")),
)  # fmt: skip


def _algorithm(name: str, count: int, lines: int, worker: str, **more: object) -> Algorithm:
    closure = (ENUM, *(f"srt/speculative/part_{i}.py" for i in range(count - 1)))
    full: dict[str, object] = {
        "worker": f"srt/speculative/{worker.lower()}.py:{worker}",
        "files": closure,
        "lines": lines,
        "place": Place(ENUM, 1 + ENUM_TEXT.splitlines().index(f"    {name} = auto()")),
    }
    return Algorithm(name, **(full | more))  # type: ignore[arg-type]


def _rules() -> tuple[Restriction, ...]:
    own = (
        Restriction(kind, words, Place(ARGUMENTS, line), effect, condition)
        for kind, words, line, effect, condition in RULES
    )
    return (*own, Restriction("memory", "1.75 GiB of host memory a rank", Place(TRIE, 3), "warned"))


ALGORITHMS = (
    _algorithm("EAGLE", 29, 9412, "EagleWorker", aliases=("NEXTN",)),
    _algorithm("EAGLE3", 29, 9412, "EagleWorker", draft_architectures=("LlamaForCausalLMEagle3",)),
    _algorithm("STANDALONE", 24, 7730, "StandaloneWorker"),
    _algorithm(
        "NGRAM", 4, 4106, "NgramWorker",
        files=(NGRAM, ENUM, "srt/speculative/ngram_info.py", TRIE), restrictions=_rules(),
    ),
    _algorithm("DFLASH", 21, 6218, "DflashWorker"),
    _algorithm("FROZEN_KV_MTP", 26, 8051, "FrozenWorker"),
    _algorithm("DSPARK", 42, 12877, "DsparkWorker", plugin="dspark"),
)  # fmt: skip


def _files() -> dict[str, TreeFile]:
    paths = {path for algorithm in ALGORITHMS for path in algorithm.files}
    paths |= {f"srt/layers/attention/backend_{i}.py" for i in range(40)} | set(TEXTS)
    paths |= {"version.py", "launch_server.py", "jit_kernel/verify.cu"}
    out: dict[str, TreeFile] = {}
    for i, path in enumerate(sorted(paths)):
        text = TEXTS.get(path, "")
        lines = text.count("\n") or 40 + i
        out[path] = TreeFile(40 * lines, f"{i * 7919:07x}{i:025x}", lines)
    return out


def tree(**more: object) -> Tree:
    """SGLang 0.5.23, well read."""
    full: dict[str, object] = {
        "path": "/opt/sglang-0.5.23/lib/python3.12/site-packages/sglang",
        "version": "0.5.23",
        "tree_hash": "9c41d7e2a8f00b11",
        "algorithms": ALGORITHMS,
        "flags": FLAGS,
        "files": _files(),
    }
    return Tree(**(full | more))  # type: ignore[arg-type]


def damaged_tree() -> Tree:
    """One file has a syntax error, so one algorithm's worker is not known."""
    problems = (
        ReadingProblem(Place(NGRAM, 4), "invalid syntax: the worker of NGRAM is not known"),
        ReadingProblem(Place(ARGUMENTS, 900), "a flag is declared in a loop that cannot be told"),
    )
    ngram = Algorithm("NGRAM", place=ALGORITHMS[3].place)
    others = tuple(a for a in ALGORITHMS if a.name != "NGRAM")
    return tree(algorithms=(ngram, *others), problems=problems, commit="4f2c1e9-dirty")


def older_tree() -> Tree:
    """SGLang 0.5.10: an algorithm less, two defaults differ, a flag is not there."""
    flags = tuple(
        flag("speculative-ngram-capacity", "int", 1_000_000, 388) if "capacity" in f.name else f
        for f in FLAGS
        if "attention-mode" not in f.name
    )
    files = _files()
    files[ENUM] = TreeFile(400, "0" * 32, 31)
    files.pop("jit_kernel/verify.cu")
    return tree(
        version="0.5.10", tree_hash="117ab30c55", algorithms=ALGORITHMS[:-1], flags=flags,
        files=files, path="/opt/sglang-0.5.10/lib/python3.12/site-packages/sglang",
    )  # fmt: skip


def hits(pattern: str) -> Hits:
    """Lines with a text in the files that have one."""
    found = [
        Hit(Place(name, number), line)
        for name, text in sorted(TEXTS.items())
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.lower() in line.lower()
    ]
    note = "only the first 200" if len(found) > 200 else ""
    return Hits(pattern, tuple(found[:200]), note)


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


TOPOLOGY = Topology(
    tuple(range(8)),
    tuple(
        tuple("X" if a == b else "PHB" if a // 4 == b // 4 else "SYS" for b in range(8))
        for a in range(8)
    ),
    (0, 0, 0, 0, 1, 1, 1, 1),
)
