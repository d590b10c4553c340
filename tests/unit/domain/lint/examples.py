"""A command line for every rule, which makes that rule speak in the versions it holds for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from specctl.domain.checkpoint.values import ModelConfig
from specctl.domain.lint.case import Surroundings

CHAIN = "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4"
TREE = "--speculative-num-steps 3 --speculative-eagle-topk 4 --speculative-num-draft-tokens 8"
EAGLE = "--speculative-algorithm EAGLE --speculative-draft-model-path /d"
EAGLE3 = "--speculative-algorithm EAGLE3 --speculative-draft-model-path /d"
STANDALONE = "--speculative-algorithm STANDALONE --speculative-draft-model-path /d"
NGRAM = "--speculative-algorithm NGRAM"
DFLASH = "--speculative-algorithm DFLASH --speculative-draft-model-path /d"
DSPARK = "--speculative-algorithm DSPARK --speculative-draft-model-path /d"
UNO = "--speculative-algorithm UNO --uno-lora-path /l --attention-backend fa3"
WIDTH = "--speculative-num-draft-tokens 4"
LLAMA = ModelConfig(("LlamaForCausalLM",), vocab_size=128_256)
GEMMA_DRAFT = ModelConfig(("Gemma4AssistantForCausalLM",))


@dataclass(frozen=True)
class Example:
    """A command line, and what is known around it."""

    argv: str
    env: dict[str, str] = field(default_factory=dict)
    around: dict[str, Any] = field(default_factory=dict)
    since: str = ""
    """A later version than the rule's first one, where the example needs a flag of it."""

    @property
    def words(self) -> list[str]:
        return ["--model-path", "/m", *self.argv.split()]

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(**self.around)


def _draft(*names: str, **fields: Any) -> dict[str, Any]:
    return {"draft_config": ModelConfig(names, **fields), "target_config": LLAMA}


EXAMPLES: dict[str, Example] = {
    "unknown-flag": Example("--frobnicate 1"),
    "ambiguous-flag": Example("--attention flashinfer"),
    "abbreviated-flag": Example("--max-running 4"),
    "value-outside-choices": Example(f"{NGRAM} --speculative-ngram-match-type prob"),
    "value-of-wrong-kind": Example("--max-running-requests 8.0"),
    "number-of-values": Example("--enable-metrics=true"),
    "stray-word": Example("-x 1"),
    "deprecated-dp-attention": Example("--enable-dp-attention --dp-size 2 --tp-size 2"),
    "stale-variable": Example("", {"SIMULATE_ACC_METHOD": "multinomial"}),
    "ragged-verify-mode": Example(NGRAM, {"SGLANG_RAGGED_VERIFY_MODE": "STATIC"}),
    "prefill-coordination": Example("", {"SGLANG_ENABLE_DP_SPEC_PREFILL_COORDINATION": "1"}),
    "unparsable-variable": Example("", {"SGLANG_SIMULATE_ACC_LEN": "three"}),
    "simulated-acceptance": Example("", {"SIMULATE_ACC_LEN": "3"}),
    "config-joined": Example("--config=a.yaml"),
    "config-twice": Example("--config a.yaml --config b.yaml"),
    "config-lost": Example("--config /a", around={"missing_files": frozenset({"/a"})}),
    "config-keys": Example("--config /a", around={"files": {"/a": "tp_size: 2\n"}}),
    "aux-hidden-states": Example(f"{NGRAM} --enable-return-aux-hidden-states"),
    "aux-hidden-states-only": Example(
        "--speculative-algorithm EAGLE3 --enable-return-aux-hidden-states"
    ),
    "dp-attention-divides": Example("--enable-dp-attention --dp-size 2 --tp-size 3"),
    "cpu-without-amx": Example(
        "--device cpu --attention-backend intel_amx", around={"has_amx": False}
    ),
    "flex-attention": Example(f"{NGRAM} --attention-backend flex_attention"),
    "pages-forced": Example("--attention-backend flashmla --page-size 16"),
    "fa4-pages": Example("--attention-backend fa4 --page-size 16", around={"capability": (10, 0)}),
    "nvfp4-ngram": Example(
        f"{NGRAM} --kv-cache-dtype nvfp4 --attention-backend trtllm_mha",
        around={"capability": (10, 0)},
    ),
    "cpu-verify": Example(f"{NGRAM} --device cpu --attention-backend torch_native"),
    "algorithm-blank": Example("--speculative-algorithm="),
    "algorithm-none": Example("--speculative-algorithm NONE"),
    "algorithm-unknown": Example("--speculative-algorithm EAGLE-3"),
    "algorithm-upper-case": Example("--speculative-algorithm ngram"),
    "algorithm-alias": Example(f"--speculative-algorithm NEXTN {CHAIN}"),
    "eagle3-gemma4-draft": Example(EAGLE3, around={"draft_config": GEMMA_DRAFT}),
    "gemma4-draft-promotes": Example(EAGLE, around={"draft_config": GEMMA_DRAFT}),
    "frozen-kv-mtp-typed": Example("--speculative-algorithm FROZEN_KV_MTP"),
    "ngram-device": Example(f"{NGRAM} --device npu"),
    "dflash-device": Example(f"{DFLASH} --device cpu"),
    "dspark-device": Example(f"{DSPARK} --device cpu"),
    "uno-device": Example(f"{UNO} {WIDTH} --device xpu"),
    "flags-without-algorithm": Example("--speculative-num-steps 3"),
    "flags-of-another-algorithm": Example(
        f"{EAGLE} {CHAIN} --speculative-ngram-capacity 1000", since="0.5.3"
    ),
    "draft-config-unreadable": Example(
        f"{NGRAM} --speculative-draft-model-path /d", around={"draft_trouble": "/d is not there"}
    ),
    "draft-of-the-target": Example(
        "--speculative-algorithm EAGLE",
        around={"target_config": ModelConfig(("DeepseekV3ForCausalLM",))},
    ),
    "draft-not-needed": Example(
        EAGLE, around={"target_config": ModelConfig(("DeepseekV3ForCausalLM",))}
    ),
    "draft-missing": Example("--speculative-algorithm EAGLE", around={"target_config": LLAMA}),
    "draft-revision": Example(f"{EAGLE} {CHAIN} --revision abc"),
    "draft-inherits-quantization": Example(f"{EAGLE} {CHAIN} --quantization fp8"),
    "eagle3-draft-under-eagle": Example(EAGLE, around=_draft("LlamaForCausalLMEagle3")),
    "eagle-draft-under-eagle3": Example(EAGLE3, around=_draft("LlamaForCausalLMEagle")),
    "plain-model-as-head": Example(EAGLE, around=_draft("LlamaForCausalLM")),
    "standalone-vocabulary": Example(
        STANDALONE, around=_draft("LlamaForCausalLM", vocab_size=49_152)
    ),
    "eagle3-token-map": Example(f"{EAGLE3} {CHAIN} --speculative-token-map /t.pt"),
    "block-verification-algorithm": Example(f"{NGRAM} --speculative-use-block-verification"),
    "block-verification-device": Example(
        f"{EAGLE} {CHAIN} --device cpu --speculative-use-block-verification"
    ),
    "block-verification-rejects": Example(f"{EAGLE} {CHAIN} --speculative-use-block-verification"),
    "adaptive-off": Example(f"{NGRAM} --speculative-adaptive"),
    "adaptive-config-path": Example(
        f"{EAGLE} --speculative-adaptive --speculative-adaptive-config {{}}"
    ),
    "adaptive-config": Example(
        f"{EAGLE} --speculative-adaptive --speculative-adaptive-config /c",
        around={"files": {"/c": '{"ema_alpha": 0.5}'}},
    ),
    "adaptive-steps": Example(f"{EAGLE} --speculative-adaptive --speculative-num-steps 2"),
    "adaptive-draft-tokens": Example(
        f"{EAGLE} --speculative-adaptive --speculative-num-steps 3 --speculative-num-draft-tokens 9"
    ),
    "adaptive-config-unread": Example(f"{EAGLE} {CHAIN} --speculative-adaptive-config /c"),
    "eagle-needs-steps": Example(f"{EAGLE} --speculative-eagle-topk 4"),
    "eagle-needs-topk": Example(f"{EAGLE} --speculative-num-steps 3"),
    "eagle-tree-needs-tokens": Example(
        f"{EAGLE} --speculative-num-steps 3 --speculative-eagle-topk 4"
    ),
    "eagle-automatic": Example(EAGLE, around={"target_config": LLAMA}),
    "rejection-standalone": Example(f"{STANDALONE} {CHAIN} --speculative-use-rejection-sampling"),
    "rejection-topk": Example(f"{EAGLE} {TREE} --speculative-use-rejection-sampling"),
    "rejection-thresholds": Example(
        f"{EAGLE} {CHAIN} --speculative-use-rejection-sampling "
        "--speculative-accept-threshold-acc 0.9"
    ),
    "rejection-vocabulary": Example(
        f"{EAGLE3} {CHAIN} --speculative-use-rejection-sampling",
        around=_draft("LlamaForCausalLMEagle3", draft_vocab_size=32_000),
    ),
    "rejection-ignored": Example(f"{NGRAM} --speculative-use-rejection-sampling"),
    "threshold-out-of-range": Example(f"{EAGLE} {CHAIN} --speculative-accept-threshold-single 2"),
    "threshold-inexact": Example(f"{EAGLE} {CHAIN} --speculative-accept-threshold-single 0.5"),
    "draft-window-positive": Example(f"{EAGLE} {CHAIN} --speculative-draft-window-size 0"),
    "draft-window-unused": Example(f"{NGRAM} --speculative-draft-window-size 8"),
    "draft-sink-size": Example(f"{EAGLE} {CHAIN} --speculative-draft-sink-size 4"),
    "eagle-topk-pages-rewritten": Example(f"{EAGLE} {TREE} --page-size 16"),
    "eagle-trtllm-topk": Example(f"{EAGLE} {TREE} --attention-backend trtllm_mha"),
    "eagle-chain-tokens": Example(
        f"{EAGLE} --speculative-num-steps 3 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 8"
    ),
    "eagle-tree-pages": Example(f"{EAGLE} {TREE} --page-size 16 --attention-backend fa4"),
    "eagle-tree-size": Example(
        f"{EAGLE} --speculative-num-steps 3 --speculative-eagle-topk 4 "
        "--speculative-num-draft-tokens 38"
    ),
    "eagle-odd-values": Example(
        f"{EAGLE} --speculative-num-steps -1 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 4"
    ),
    "eagle-no-steps": Example(
        f"{EAGLE} --speculative-num-steps 0 --speculative-eagle-topk 1 "
        "--speculative-num-draft-tokens 1"
    ),
    "eagle-context": Example(f"{EAGLE} {TREE} --context-length 8"),
    "ngram-topk": Example(f"{NGRAM} --speculative-eagle-topk 4"),
    "ngram-draft-tokens": Example(NGRAM),
    "ngram-zero-breadth": Example(f"{NGRAM} --speculative-ngram-max-bfs-breadth 0"),
    "ngram-matcher": Example(f"{NGRAM} --speculative-num-draft-tokens 0"),
    "ngram-depth": Example(f"{NGRAM} --speculative-ngram-max-trie-depth 1"),
    "ngram-negative": Example(f"{NGRAM} --speculative-num-draft-tokens -3"),
    "ngram-small-capacity": Example(f"{NGRAM} --speculative-ngram-capacity 18"),
    "ngram-windows": Example(f"{NGRAM} --speculative-ngram-branch-length 12"),
    "ngram-match-type-ignored": Example(f"{NGRAM} --speculative-ngram-match-type PROB"),
    "ngram-one-token": Example(f"{NGRAM} --speculative-num-draft-tokens 1"),
    "ngram-pages": Example(f"{NGRAM} --page-size 16 --attention-backend triton"),
    "ngram-corpus": Example(f"{NGRAM} --speculative-ngram-external-corpus-path /c"),
    "ngram-budget": Example(f"{NGRAM} --speculative-ngram-external-sam-budget 50"),
    "ngram-corpus-lost": Example(
        f"{NGRAM} --speculative-ngram-external-corpus-path /c "
        "--speculative-ngram-external-sam-budget 4",
        around={"missing_files": frozenset({"/c"})},
    ),
    "ngram-memory": Example(f"{NGRAM} --tp-size 8", around={"memory_bytes": 64 << 30}),
    "dflash-pipeline": Example(f"{DFLASH} --pp-size 2"),
    "dflash-dp-attention": Example(f"{DFLASH} --tp-size 2 --dp-size 2 --enable-dp-attention"),
    "dflash-draft": Example("--speculative-algorithm DFLASH"),
    "dspark-dp-attention": Example(f"{DSPARK} --tp-size 2 --dp-size 2 --enable-dp-attention"),
    "dspark-pipeline": Example(f"{DSPARK} --pp-size 2"),
    "dspark-draft": Example("--speculative-algorithm DSPARK"),
    "block-steps-and-topk": Example(f"{DFLASH} --speculative-num-steps 4"),
    "dflash-block-size": Example(
        f"{DFLASH} --speculative-dflash-block-size 16 --speculative-num-draft-tokens 7"
    ),
    "dflash-automatic": Example(DFLASH, around={"draft_config": ModelConfig(("D",))}),
    "dflash-window": Example(
        f"{DFLASH} --speculative-num-draft-tokens 8 --speculative-draft-window-size 4",
        since="0.5.12",
    ),
    "dspark-draft-tokens": Example(
        f"{DSPARK} --speculative-dspark-block-size 4 --speculative-num-draft-tokens 4"
    ),
    "dspark-automatic": Example(DSPARK, around={"draft_config": ModelConfig(("D",))}),
    "dspark-no-effect": Example(f"{DSPARK} --speculative-dspark-align-verify-tokens-to-graph-tier"),
    "uno-draft": Example(f"{UNO} {WIDTH} --speculative-draft-model-path /d"),
    "uno-lora": Example(f"--speculative-algorithm UNO {WIDTH}"),
    "uno-refused-with": Example(f"{UNO} {WIDTH} --enable-deterministic-inference"),
    "uno-width": Example(UNO),
    "uno-topk": Example(f"{UNO} {WIDTH} --speculative-eagle-topk 0"),
    "uno-tree-steps": Example(f"{UNO} {WIDTH} --speculative-eagle-topk 2"),
    "uno-tree": Example(
        f"{UNO} --speculative-num-draft-tokens 3 --speculative-eagle-topk 2 "
        "--speculative-num-steps 3"
    ),
    "uno-tree-with": Example(
        f"{UNO} --speculative-num-draft-tokens 6 --speculative-eagle-topk 2 "
        "--speculative-num-steps 3 --enable-pdmux"
    ),
    "uno-linear": Example(f"{UNO} {WIDTH} --speculative-num-steps 5"),
    "uno-parallel": Example(f"{UNO} {WIDTH} --tp-size 2"),
    "uno-mixed-chunk": Example(f"{UNO} {WIDTH} --enable-mixed-chunk"),
    "uno-attention-backend": Example(
        f"--speculative-algorithm UNO --uno-lora-path /l {WIDTH} --attention-backend triton"
    ),
    "standalone-dp-attention": Example(
        f"{STANDALONE} {CHAIN} --tp-size 2 --dp-size 2 --enable-dp-attention"
    ),
    "ngram-dp-attention": Example(f"{NGRAM} --tp-size 2 --dp-size 2 --enable-dp-attention"),
    "pipeline-before": Example(f"{EAGLE} {CHAIN} --pp-size 2"),
    "pipeline-algorithm": Example(f"{EAGLE3} {CHAIN} --pp-size 2"),
    "pipeline-eagle": Example(f"{EAGLE} {CHAIN} --pp-size 2"),
    "pipeline-variable": Example(
        f"{EAGLE} --speculative-adaptive --pp-size 2", {"SGLANG_ENABLE_PP_SPEC": "1"}
    ),
    "replicas": Example(f"{STANDALONE} {CHAIN} --dp-size 2"),
    "running-requests": Example(EAGLE),
    "spec-v2-topk": Example(f"{EAGLE} {TREE}", {"SGLANG_ENABLE_SPEC_V2": "1"}),
    "spec-v1-fallback": Example(f"{EAGLE} {TREE}"),
    "mixed-chunk": Example(f"{STANDALONE} {CHAIN} --enable-mixed-chunk", since="0.5.2"),
    "radix-cache-of-decode": Example(
        f"{STANDALONE} {CHAIN} --disaggregation-mode decode "
        "--disaggregation-decode-enable-radix-cache"
    ),
    "lora-algorithm": Example(f"{STANDALONE} {CHAIN} --enable-lora"),
    "lora-with": Example(f"{EAGLE} --speculative-adaptive --enable-lora"),
    "lora-before": Example(f"{EAGLE} {CHAIN} --enable-lora"),
    "weight-cache": Example(f"{NGRAM} --weight-cache-mode client"),
    "lmcache": Example(f"{NGRAM} --enable-lmcache"),
    "unified-memory": Example(f"{NGRAM} --enable-unified-memory"),
    "watermark": Example(f"{STANDALONE} {CHAIN} --enable-watermark"),
    "draft-moe-runner": Example(f"{EAGLE} {CHAIN} --speculative-moe-runner-backend lora_triton"),
    "draft-moe-runner-trtllm": Example(
        f"{EAGLE} {CHAIN} --speculative-moe-runner-backend flashinfer_trtllm"
    ),
    "pdmux": Example("--enable-pdmux"),
    "graphs-for-nothing": Example(f"{EAGLE} {CHAIN} --cuda-graph-max-bs-decode 64"),
}
"""By rule; the rules that need a tree or a profile have tests of their own."""

ELSEWHERE = {
    "retired-flag": "needs a tree whose parser still knows the flag",
    "deprecated-flag": "needs a tree that says so of a flag",
    "undeclared-variable": "needs a tree with its list of variables",
    "draft-attention-backend": "needs a tree with its list of backends",
    "ngram-corpora": "corpora stand in profiles only",
    "ngram-corpora-unused": "corpora stand in profiles only",
}
