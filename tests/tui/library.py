"""A build's source tree, to be read on the screens; in our own words."""

from __future__ import annotations

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
    Hit,
    Hits,
)

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


TOPOLOGY = Topology(
    tuple(range(8)),
    tuple(
        tuple("X" if a == b else "PHB" if a // 4 == b // 4 else "SYS" for b in range(8))
        for a in range(8)
    ),
    (0, 0, 0, 0, 1, 1, 1, 1),
)
