"""Profiles made at random around everything that a check of the arguments on the CPU can reach.

The same seed gives the same profiles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain.profile import Profile, Speculation

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from pathlib import Path

ALGORITHMS = (
    *("EAGLE",) * 12, *("EAGLE3",) * 4, *("NEXTN",) * 3, *("STANDALONE",) * 8, *("NGRAM",) * 14,
    *("ngram",) * 2, "DFLASH", "DSPARK", "UNO", "MEDUSA", "NGRAM ", *(None,) * 5,
)  # fmt: skip
ADAPTIVE_FILES = {
    "adaptive.json": '{"1": {"candidate_steps": [1, 2, 4]}}',
    "adaptive-nobs.json": '{"ema_alpha": 0.5}',
    "adaptive-empty.json": '{"1": {"candidate_steps": []}}',
    "adaptive-text.json": '{"1": {"candidate_steps": ["3"]}}',
}
CONFIG_FILES = {
    "config.yaml": "max-running-requests: 7\n",
    "config-underscore.yaml": "max_running_requests: 7\n",
}


@dataclass
class Maker:
    """Makes one profile after the other."""

    models: Path
    files: Path
    random: random.Random
    arguments: dict[str, Any] = field(default_factory=dict)
    speculation: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def profiles(self, count: int) -> Iterator[Profile]:
        for number in range(count):
            yield self._profile(number)

    def _profile(self, number: int) -> Profile:
        self.arguments, self.speculation, self.environment = {"device": "cpu"}, {}, {}
        algorithm = self.random.choice(ALGORITHMS)
        if algorithm is not None:
            self._draft(algorithm)
            self._shape(algorithm)
        for touch in self.random.sample(TOUCHES, k=self.pick(0, 0, 1, 1, 1, 2, 3)):
            touch(self)
        return Profile(
            name=f"generated-{number}",
            model=str(self.models / "target"),
            arguments=self.arguments,
            speculation=Speculation(algorithm, self.speculation) if algorithm else None,
            environment=self.environment,
            file=f"profiles/generated-{number}.toml",
        )

    def maybe(self, share: float) -> bool:
        return self.random.random() < share

    def pick(self, *values: Any) -> Any:
        return self.random.choice(values)

    def _draft(self, algorithm: str) -> None:
        if algorithm.strip().upper() != "NGRAM" and self.maybe(0.85):
            name = self.pick(*("draft",) * 4, *("eagle",) * 10, "nowhere")
            self.speculation["draft-model-path"] = str(self.models / name)

    def _shape(self, algorithm: str) -> None:
        kind = self.pick("none", "chain", "chain", "chain", "tree", "tree", "pieces")
        if kind == "chain":
            steps = self.pick(1, 2, 3, 5)
            self.speculation |= {"num-steps": steps, "eagle-topk": 1}
            self.speculation["num-draft-tokens"] = self.pick(steps + 1, 8)
        elif kind == "tree":
            self.speculation |= {"num-steps": 3, "eagle-topk": 4, "num-draft-tokens": 8}
        elif kind == "pieces":
            for key, value in (("num-steps", 3), ("eagle-topk", self.pick(1, 2, 4)),
                               ("num-draft-tokens", self.pick(1, 2, 4, 12))):  # fmt: skip
                if self.maybe(0.5):
                    self.speculation[key] = value
        if algorithm.strip().upper() == "NGRAM":
            self._ngram()

    def _ngram(self) -> None:
        choices: dict[str, tuple[Any, ...]] = {
            "ngram-max-bfs-breadth": (0, 1, 1, 2, 4, 10),
            "ngram-min-bfs-breadth": (1, 2),
            "ngram-match-type": ("BFS", "PROB", "PROB", "prob"),
            "ngram-capacity": (100_000, 200_000, "1_000", "1e6"),
            "ngram-external-sam-budget": (1, 3, 11, 12),
            "ngram-external-corpus-path": (str(self.files / "corpus.jsonl"),),
            "ngram-external-corpus-max-tokens": (0, 1000, 1000),
            "ngram-max-trie-depth": (2, 18),
        }
        for key in self.random.sample(sorted(choices), k=self.pick(0, 1, 2, 3)):
            self.speculation[key] = self.pick(*choices[key])


def _pages(m: Maker) -> None:
    m.arguments["page-size"] = m.pick(1, 16, 64)


def _backend(m: Maker) -> None:
    m.arguments["attention-backend"] = m.pick("torch_native", "flex_attention", "intel_amx")


def _mixed(m: Maker) -> None:
    m.arguments["enable-mixed-chunk"] = True


def _adaptive(m: Maker) -> None:
    m.speculation["adaptive"] = True
    if m.maybe(0.5):
        name = m.pick(*ADAPTIVE_FILES, "adaptive.json", "gone.json")
        m.speculation["adaptive-config"] = str(m.files / name)


def _rejection(m: Maker) -> None:
    m.speculation["use-rejection-sampling"] = True
    if m.maybe(0.3):
        m.speculation["accept-threshold-acc"] = m.pick(1.0, 0.5)


def _block(m: Maker) -> None:
    m.speculation["use-block-verification"] = True


def _thresholds(m: Maker) -> None:
    m.speculation["accept-threshold-single"] = m.pick(-1, 0.5, 1.0, "high")


def _window(m: Maker) -> None:
    m.speculation["draft-window-size"] = m.pick(0, 4, 512)
    if m.maybe(0.4):
        m.speculation["draft-sink-size"] = m.pick(-1, 0, 4)


def _sink(m: Maker) -> None:
    m.speculation["draft-sink-size"] = 4


def _ragged(m: Maker) -> None:
    m.environment["SGLANG_RAGGED_VERIFY_MODE"] = m.pick("static", "STATIC", "compact", "dynamic")


def _coordination(m: Maker) -> None:
    m.environment["SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION"] = m.pick("1", "0", "true")


def _pipeline(m: Maker) -> None:
    m.arguments["pp-size"] = 2
    if m.maybe(0.4):
        m.environment["SGLANG_ENABLE_PP_SPEC"] = m.pick("1", "yes", "banana")


def _groups(m: Maker) -> None:
    m.arguments |= {"tp-size": m.pick(1, 2, 3), "attn-dp-size": m.pick(1, 2)}


def _old_groups(m: Maker) -> None:
    m.arguments |= {"tp-size": 2, "dp-size": m.pick(1, 2), "enable-dp-attention": True}


def _lora(m: Maker) -> None:
    m.arguments |= {"enable-lora": True, "max-lora-rank": 8, "lora-target-modules": ("all",)}


def _adaptive_lora(m: Maker) -> None:
    _lora(m)
    m.speculation |= {"adaptive": True, "num-steps": 3, "eagle-topk": 1}


def _running(m: Maker) -> None:
    m.arguments["max-running-requests"] = m.pick(4, 16)


def _slip(m: Maker) -> None:
    """What argparse refuses, and what it takes all the same."""
    key, value = m.pick(
        ("frobnicate", 1), ("cuda-graph-max-bs", 8), ("max-running-requests", 8.0),
        ("speculative-num-speculative-tokens", 3), ("enable-beta-spec", True),
        ("max-running", 5), ("cuda-graph-bs", (1, 2)), ("page", 1),
        ("speculative-ngram-branch-length", 18),
        ("speculative-ngram-max", 4), ("speculative-skip-dp-mlp-sync", True),
    )  # fmt: skip
    m.arguments[key] = value


def _choices(m: Maker) -> None:
    key, value = m.pick(
        ("attention-mode", "both"), ("attention-mode", "decode"), ("dsa-topk-backend", "triton"),
        ("draft-model-quantization", "int4"), ("draft-model-quantization", "unquant"),
        ("draft-load-format", "dummy"), ("draft-load-format", "fake"),
        ("draft-kv-cache-dtype", "fp8_e4m3"), ("moe-runner-backend", "lora_triton"),
    )  # fmt: skip
    m.speculation[key] = value


def _capture(m: Maker) -> None:
    m.arguments["enable-return-aux-hidden-states"] = True


def _config(m: Maker) -> None:
    name = m.pick(*CONFIG_FILES, "config.yaml", "gone.yaml")
    m.arguments["config"] = str(m.files / name)


def _token_map(m: Maker) -> None:
    m.speculation["token-map"] = "/nonexistent/map.pt"


TOUCHES: tuple[Callable[[Maker], None], ...] = (
    _pages, _pages, _backend, _mixed, _mixed, _adaptive, _adaptive, _rejection, _rejection, _block,
    _thresholds, _window, _sink, _ragged, _coordination, _pipeline, _groups, _old_groups, _lora,
    _adaptive_lora,
    _running, _slip, _slip, _choices, _choices, _capture, _config, _token_map,
)  # fmt: skip


def write_files(folder: Path) -> None:
    for name, text in (ADAPTIVE_FILES | CONFIG_FILES).items():
        (folder / name).write_text(text)
    (folder / "corpus.jsonl").write_text('"def main():"\n')
