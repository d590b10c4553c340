"""The flags a build takes: those its tree declares, else those known of its version."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.source import Flag, Place
from specctl.domain.versions import Span, Version

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.lint.build import Build

SPANS: Mapping[str, Span] = {
    "attn-dp-size": Span("0.5.22"),
    "attention-data-parallel-size": Span("0.5.22"),
    "config": Span("0.5.3"),
    "cuda-graph-backend-decode": Span("0.5.14"),
    "cuda-graph-backend-prefill": Span("0.5.14"),
    "cuda-graph-bs": Span("0.4.2", "0.5.19"),
    "cuda-graph-bs-decode": Span("0.5.14"),
    "cuda-graph-bs-prefill": Span("0.5.14"),
    "cuda-graph-max-bs": Span("", "0.5.19"),
    "cuda-graph-max-bs-decode": Span("0.5.14"),
    "cuda-graph-max-bs-prefill": Span("0.5.14"),
    "decode-attention-backend": Span("0.4.10.post2"),
    "decoupled-spec-bind-endpoint": Span("0.5.15.post1"),
    "decoupled-spec-connect-endpoints": Span("0.5.15.post1"),
    "decoupled-spec-rank": Span("0.5.15.post1"),
    "decoupled-spec-role": Span("0.5.15.post1"),
    "enable-beta-spec": Span("0.5.3.post3", "0.5.3.post3"),
    "enable-deterministic-inference": Span("0.5.3"),
    "enable-lora": Span("0.4.10.post2"),
    "enable-multi-layer-eagle": Span("0.5.7"),
    "enable-pdmux": Span("0.4.10.post2"),
    "enable-return-aux-hidden-states": Span("0.5.23"),
    "enable-unified-memory": Span("0.5.15.post1"),
    "enable-watermark": Span("0.5.22"),
    "page-size": Span("0.4.4"),
    "prefill-attention-backend": Span("0.4.10.post2"),
    "spec-trace-dir": Span("0.5.15.post1"),
    "speculative-accept-threshold-acc": Span("0.4.3.post4"),
    "speculative-accept-threshold-single": Span("0.4.3.post4"),
    "speculative-adaptive": Span("0.5.11"),
    "speculative-adaptive-config": Span("0.5.11"),
    "speculative-algorithm": Span("0.4.2"),
    "speculative-attention-mode": Span("0.5.2"),
    "speculative-dflash-block-size": Span("0.5.11"),
    "speculative-dflash-draft-window-size": Span("0.5.11", "0.5.19"),
    "speculative-domino-candidate-pool-size": Span("0.5.20"),
    "speculative-draft-attention-backend": Span("0.5.7"),
    "speculative-draft-kv-cache-dtype": Span("0.5.18"),
    "speculative-draft-load-format": Span("0.5.3.post3"),
    "speculative-draft-model": Span("0.5.2"),
    "speculative-draft-model-path": Span("0.4.2"),
    "speculative-draft-model-quantization": Span("0.5.7"),
    "speculative-draft-model-revision": Span("0.5.2"),
    "speculative-draft-sink-size": Span("0.5.21"),
    "speculative-draft-window-size": Span("0.5.12"),
    "speculative-dsa-topk-backend": Span("0.5.19"),
    "speculative-dspark-align-verify-tokens-to-graph-tier": Span("0.5.16"),
    "speculative-dspark-block-size": Span("0.5.16"),
    "speculative-dspark-confidence-sts-path": Span("0.5.16"),
    "speculative-dspark-sps-table-path": Span("0.5.16"),
    "speculative-eagle-topk": Span("0.4.2"),
    "speculative-enable-w4a4-mxfp4-megamoe": Span("0.5.22"),
    "speculative-moe-a2a-backend": Span("0.5.6.post2"),
    "speculative-moe-runner-backend": Span("0.5.4.post3"),
    "speculative-ngram-branch-length": Span("0.5.3", "0.5.9"),
    "speculative-ngram-capacity": Span("0.5.3"),
    "speculative-ngram-external-corpus-max-tokens": Span("0.5.11"),
    "speculative-ngram-external-corpus-path": Span("0.5.11"),
    "speculative-ngram-external-sam-budget": Span("0.5.11"),
    "speculative-ngram-match-type": Span("0.5.3"),
    "speculative-ngram-max-bfs-breadth": Span("0.5.3"),
    "speculative-ngram-max-match-window-size": Span("0.5.3", "0.5.9"),
    "speculative-ngram-max-trie-depth": Span("0.5.10.post1"),
    "speculative-ngram-min-bfs-breadth": Span("0.5.3"),
    "speculative-ngram-min-match-window-size": Span("0.5.3", "0.5.9"),
    "speculative-num-draft-tokens": Span("0.4.2"),
    "speculative-num-steps": Span("0.4.2"),
    "speculative-skip-dp-mlp-sync": Span("0.5.11", "0.5.22"),
    "speculative-token-map": Span("0.4.3.post4"),
    "speculative-use-block-verification": Span("0.5.22"),
    "speculative-use-rejection-sampling": Span("0.5.14"),
    "uno-lora-path": Span("0.5.20"),
    "weight-cache-mode": Span("0.5.17"),
}
"""Flags around speculation whose first or last version is known, of the versions looked at."""

_WHOLE = frozenset(
    [
        "attn-dp-size",
        "cuda-graph-max-bs-decode",
        "dp-size",
        "max-running-requests",
        "page-size",
        "pp-size",
        "tp-size",
        "speculative-dflash-block-size",
        "speculative-domino-candidate-pool-size",
        "speculative-draft-sink-size",
        "speculative-draft-window-size",
        "speculative-dspark-block-size",
        "speculative-eagle-topk",
        "speculative-ngram-branch-length",
        "speculative-ngram-capacity",
        "speculative-ngram-external-corpus-max-tokens",
        "speculative-ngram-external-sam-budget",
        "speculative-ngram-max-bfs-breadth",
        "speculative-ngram-max-match-window-size",
        "speculative-ngram-max-trie-depth",
        "speculative-ngram-min-bfs-breadth",
        "speculative-ngram-min-match-window-size",
        "speculative-num-draft-tokens",
        "speculative-num-steps",
    ]
)
_FRACTIONAL = frozenset({
    "mem-fraction-static", "speculative-accept-threshold-acc",
    "speculative-accept-threshold-single",
})  # fmt: skip
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "speculative-attention-mode": ("prefill", "decode"),
    "speculative-dsa-topk-backend": ("sgl-kernel", "torch", "flashinfer"),
    "speculative-draft-kv-cache-dtype": ("auto", "fp8_e5m2", "fp8_e4m3", "bf16", "bfloat16"),
    "speculative-ngram-match-type": ("BFS", "PROB"),
}
DEFAULTS: Mapping[str, int | float | str] = {
    "speculative-ngram-capacity": 10_000_000,
    "speculative-ngram-max-bfs-breadth": 10,
    "speculative-ngram-min-bfs-breadth": 1,
    "speculative-ngram-max-trie-depth": 18,
    "speculative-ngram-branch-length": 18,
    "speculative-ngram-max-match-window-size": 12,
    "speculative-ngram-min-match-window-size": 1,
    "speculative-ngram-external-sam-budget": 0,
    "speculative-ngram-external-corpus-max-tokens": 10_000_000,
    "speculative-ngram-match-type": "BFS",
    "speculative-accept-threshold-single": 1.0,
    "speculative-accept-threshold-acc": 1.0,
    "tp-size": 1, "pp-size": 1, "dp-size": 1, "attn-dp-size": 1, "attn-cp-size": 1,
    "disaggregation-mode": "null", "weight-cache-mode": "off", "kv-cache-dtype": "auto",
}  # fmt: skip
"""What a flag is when nobody writes it, in the versions that have it."""


_EARLY_DEFAULTS: tuple[tuple[Span, Mapping[str, int]], ...] = (
    (
        Span("0.4.2", "0.4.2"),
        {
            "speculative-num-steps": 5,
            "speculative-eagle-topk": 8,
            "speculative-num-draft-tokens": 64,
        },
    ),
    (
        Span("0.4.3", "0.4.4"),
        {
            "speculative-num-steps": 5,
            "speculative-eagle-topk": 4,
            "speculative-num-draft-tokens": 8,
        },
    ),
)
"""Of versions that chose nothing by the model."""


def defaults(build: Build) -> Mapping[str, int | float | str]:
    """What a flag is when nobody writes it, as far as the version tells."""
    early = (values for span, values in _EARLY_DEFAULTS if span.holds(build.number))
    return {**DEFAULTS, **next(early, {})}


def spellings(build: Build) -> Mapping[str, Flag]:
    """Every spelling of every flag, without dashes, `no-` twins included."""
    if build.tree is not None and build.tree.flags:
        return _spelled(build.tree.flags)
    return _known_spelled(build.number)


@lru_cache(maxsize=16)
def _spelled(declared: tuple[Flag, ...]) -> Mapping[str, Flag]:
    found: dict[str, Flag] = {}
    for flag in declared:
        for name in flag.names:
            found[name.removeprefix("--")] = flag
    return found


@lru_cache(maxsize=64)
def _known_spelled(version: Version) -> Mapping[str, Flag]:
    names = (flags.CURRENT | flags.EARLIER.keys()) - flags.ALIASES.keys()
    known = (_known_flag(name) for name in sorted(names) if _is_there(name, version))
    return _spelled(tuple(known))


def _is_there(name: str, version: Version) -> bool:
    span = SPANS.get(name)
    return span.holds(version) if span is not None else name in flags.CURRENT


def _known_flag(name: str) -> Flag:
    kind = "int" if name in _WHOLE else "float" if name in _FRACTIONAL else None
    is_switch = name in flags.SWITCHES | flags.SWITCHES_WITH_NO | flags.EARLIER_SWITCHES
    return Flag(
        name=f"--{name}",
        type="bool" if is_switch else kind,
        choices=_CHOICES.get(name),
        aliases=tuple(f"--{second}" for second, first in flags.ALIASES.items() if first == name),
        place=Place(""),
        is_switch=is_switch,
        takes_many=name in flags.LISTS,
        negations=(f"--no-{name}",) if name in flags.SWITCHES_WITH_NO else (),
    )


def first_name(flag: Flag) -> str:
    """The spelling that the rules use: `tp-size`, whichever the tree declares first."""
    return flags.canonical(flag.name.removeprefix("--"))
