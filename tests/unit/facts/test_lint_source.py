"""What the rules take from a build's source; every release is tried in tests/trees."""

from __future__ import annotations

import ast

import pytest

from specctl.domain.source import Flag, Tree
from specctl.facts.gpu_capability import capability_of
from specctl.facts.lint_source import build_of, read_known
from specctl.facts.source_guards import constants_of, guard_of, strings_in

HOOK = """
_BACKENDS = ("flashinfer", "fa9")

def _handle_eagle(cfg):
    if cfg.eagle_topk > 1 and cfg.page_size > 1 and cfg.attention_backend not in _BACKENDS:
        raise ValueError(f"speculative_eagle_topk > 1 with page_size > 1 is only {_BACKENDS}")

def _handle_ngram(cfg):
    if not cfg.device.startswith("cuda"):
        raise ValueError("Ngram speculative decoding only supports CUDA device.")
    if cfg.max_running_requests is None:
        log("Max running requests is reset to 32 for speculative decoding.")
    log("speculative_num_draft_tokens is set to 9 by default for ngram")
    if cfg.topk > 1 and cfg.attention_backend != "flashinfer":
        raise ValueError(f"speculative_eagle_topk({cfg.topk}) > 1 with page_size")

def _auto_choose_speculative_params(self, arch):
    if self.speculative_algorithm == "STANDALONE":
        return (2, 1, 3)
    if arch in ["LlamaForCausalLM"]:
        return (5, 4, 8)
    elif arch == "Grok1ForCausalLM":
        return (6, 4, 8)
    else:
        return (3, 1, 4)

def _own(arch, cfg):
    if cfg.speculative_algorithm in ("EAGLE",):
        if arch in ["DeepseekV3ForCausalLM", "PixtralForConditionalGeneration"]:
            log("DeepSeek MTP does not require setting speculative_draft_model_path.")
"""
TEXTS = {
    "srt/arg_groups/speculative_hook.py": HOOK,
    "srt/arg_groups/lora_hook.py": 'lora_spec_algorithms = ("EAGLE", "UNO")\n',
    "srt/arg_groups/broken.py": "speculative_eagle_topk( def",
    "srt/speculative/spec_info.py": (
        "class SpeculativeAlgorithm:\n    def supports_mixed_chunk(self) -> bool:\n"
        "        return self in (SpeculativeAlgorithm.NGRAM,)\n\n    def other(self):\n"
        "        return SpeculativeAlgorithm.EAGLE\n"
    ),
    "srt/speculative/adaptive_spec_params.py": (
        'D = {"1": {"candidate_steps": [1, 3]}, "8": {"candidate_steps": [0, 3]}}\n'
        '\ndef load():\n    return {"candidate_steps": [9]}\n'
    ),
    "srt/environ.py": (
        "class Envs:\n    SGLANG_A = EnvBool(False)\n"
        '    SGLANG_B = EnvBoolWithAlias(True, deprecated_name="SGLANG_OLD")\n'
    ),
}


def test_lists_defaults_and_variables_come_from_the_source():
    known = read_known(TEXTS)
    assert known.page_tree_backends == ("flashinfer", "fa9")
    assert known.ngram_page_backends == ("flashinfer",)
    assert known.ngram_devices == ("cuda",)
    assert known.ngram_draft_tokens == 9
    assert known.running_requests == 32
    assert known.automatic == {
        "STANDALONE": (2, 1, 3), "LlamaForCausalLM": (5, 4, 8), "Grok1ForCausalLM": (6, 4, 8),
        "": (3, 1, 4),
    }  # fmt: skip
    assert known.own_draft_architectures == (
        "DeepseekV3ForCausalLM", "PixtralForConditionalGeneration",
    )  # fmt: skip
    assert known.adaptive_steps == (0, 1, 3)
    assert known.mixed_chunk_algorithms == ("NGRAM",)
    assert known.lora_algorithms == ("EAGLE", "UNO")
    assert known.variables == frozenset({"SGLANG_A", "SGLANG_B", "SGLANG_OLD"})


@pytest.mark.parametrize("texts", [{}, {"srt/server_args.py": "x = ("}])
def test_what_is_not_found_is_unknown(texts):
    known = read_known(texts)
    assert all(getattr(known, name) is None for name in known.__dataclass_fields__)


def test_a_tree_without_flags_is_only_its_version():
    assert build_of(Tree("/s", "0.5.5", None), TEXTS).tree is None
    named = build_of(Tree("/s", None, None, flags=(Flag("--port", "int"),)), TEXTS)
    assert (named.is_assumed, named.tree is None) == (True, False)


def test_the_guard_of_a_message_is_the_innermost():
    module = ast.parse(
        'A = ["x"]\nif a:\n    if c.b in A or c.b == "y":\n        raise E(f"no {z} go")'
    )
    test = guard_of(module, "no ")
    assert test is not None
    assert strings_in(test, "b", constants_of(module)) == ("x", "y")
    assert strings_in(test, "other", {}) == ()
    assert guard_of(module, "absent") is None


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA H100 80GB HBM3", (9, 0)), ("NVIDIA H200", (9, 0)), ("NVIDIA B200", (10, 0)),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", (12, 0)), ("NVIDIA L40S", (8, 9)),
        ("NVIDIA A100-SXM4-80GB", (8, 0)), ("NVIDIA GeForce RTX 4090", (8, 9)),
        ("NVIDIA GB10", (12, 1)), ("Tesla T4", (7, 5)), ("GRID V100D-8C", None), ("", None),
    ],
)  # fmt: skip
def test_the_capability_of_a_gpu(name, capability):
    assert capability_of(name) == capability
