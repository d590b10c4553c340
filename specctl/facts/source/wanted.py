"""Which files of a tree are listed, which are sent whole, and which lines of the rest.

A host's agent is given these patterns; it knows nothing of SGLang itself.
"""

from __future__ import annotations

import re
from typing import Any

NOT_ENTERED = r"(?:^|/)(?:__pycache__|\.[^/]*|node_modules)$|^(?:multimodal_gen|test|lang)$"
"""Folders that are left out, by their path relative to the package."""

LISTED = r"\.(?:py|pyi|cpp|cc|cu|cuh|h|hpp|hip|proto|toml|yaml|rs)$"
"""Files that are hashed, and looked through when something is searched."""

SENT = (
    r"_?version\.py",
    r"srt/(?:server_args|server_args_config_parser|environ)\.py",
    r"srt/(?:arg_groups|speculative)/.*\.py",
    r"srt/managers/scheduler\.py",
    r"srt/plugins/__init__\.py",
    r"srt/(?:parser/)?reasoning_parser(?:_names)?\.py",
    r"srt/function_call/(?:function_call_parser|parser_names)\.py",
    r"srt/model_executor/cuda_graph_config\.py",
    r"(?:jit_kernel|kernels/ops)/kv_canary/consts\.py",
    r"jit_kernel/ngram_corpus\.py",
    r"(?:srt/speculative/cpp_ngram|(?:jit_kernel|kernels/jit)/csrc/ngram_corpus)/(?:ngram|trie)\.(?:cpp|h)",
    r"kernels/ops/speculative/.*\.py",
)
"""What flags, algorithms, workers, restrictions and lint are read from."""

FIRST = r"^srt/(?:server_args|arg_groups/)"
"""Sent before the rest, because it takes longest to read."""

_VALUE = (
    r"(?:\[[^\]]{0,4000}\]|\([^)]{0,4000}\)|\{[^}]{0,4000}\}"
    r"|\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[\w. ]{1,200})"
)

EXCERPTS = (
    (
        r"srt/models/.*\.py",
        "EntryClass",
        r"EntryClass\s*(?::[^=\n]*)?=\s*(?:\[[^\]]{0,4000}\]|\([^)]{0,4000}\)|[^\n]{0,200})",
    ),
    (
        r"srt/utils(?:/common|/__init__)?\.py",
        "",
        r"(?:from [\w.]+ import (?:\([^)]{0,8000}\)|[^(\n]{1,400})"
        rf"|[A-Z][A-Z0-9_]* *(?::[^=\n]{{0,80}})?= *{_VALUE}) *(?:#[^\n]*)?(?=\n|$)",
    ),
)
"""(files, how a piece's first line begins, piece): the models' architectures, and constants."""

PLUGIN_GROUPS = ("sglang.srt.plugins", "sglang.srt.platforms")
PLUGIN_TEXT = r"SpeculativeAlgorithm\s*\.\s*register\b|register_speculative_algorithm\s*\("

FILES_MAX = 40_000
DEPTH_MAX = 24
FILE_BYTES_MAX = 4 << 20
"""A larger file is listed and not read."""

HASHED_BYTES_MAX = 512 << 20
SENT_BYTES_MAX = 48 << 20
SECONDS_MAX = 60.0


_ANY_SENT = re.compile("|".join(f"(?:{one})$" for one in (*SENT, *(e[0] for e in EXCERPTS))))


def is_sent(name: str) -> bool:
    """Whether a file's text, or some of it, is asked for."""
    return _ANY_SENT.match(name) is not None


def request() -> dict[str, Any]:
    """The patterns and bounds as the agent's `tree` op takes them."""
    return {
        "not_entered": NOT_ENTERED,
        "listed": LISTED,
        "sent": "|".join(f"^(?:{pattern})$" for pattern in SENT),
        "first": FIRST,
        "excerpts": [[f"^(?:{files})$", first, piece] for files, first, piece in EXCERPTS],
        "plugin_groups": list(PLUGIN_GROUPS),
        "plugin_text": PLUGIN_TEXT,
        "files_max": FILES_MAX,
        "depth_max": DEPTH_MAX,
        "file_bytes_max": FILE_BYTES_MAX,
        "hashed_bytes_max": HASHED_BYTES_MAX,
        "sent_bytes_max": SENT_BYTES_MAX,
        "seconds_max": SECONDS_MAX,
    }
