"""What becomes of the speculation flags: what is filled in, rewritten with a warning, or refused.

Works on the namespace of parsed arguments. Errors are of the kinds, and in the words, that
SGLang 0.5.23 ends with; a handful have no words there, and so none here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Say = Callable[[str], None]

BUILT_IN = ("DFLASH", "UNO", "DSPARK", "EAGLE", "EAGLE3", "FROZEN_KV_MTP", "STANDALONE", "NGRAM")
TREE_BACKENDS = ("flashinfer", "fa3", "triton")
"""That verify trees of drafts on pages of more than one token."""

AUTO_TREE_MODELS = ("LlamaForCausalLM", "Grok1ForCausalLM", "Grok1ModelForCausalLM")
OWN_DRAFT_LAYER_MODELS = (
    "DeepseekV3ForCausalLM", "DeepseekV32ForCausalLM", "DeepseekV4ForCausalLM",
    "Glm4MoeForCausalLM", "BailingMoeForCausalLM", "BailingMoeV2ForCausalLM",
    "MistralLarge3ForCausalLM",
)  # fmt: skip
"""Targets that bring the layer that drafts for them."""

GEMMA_DRAFTS = ("Gemma4AssistantForCausalLM", "Gemma4UnifiedAssistantForCausalLM")
DEFAULT_STEPS = (0, 1, 3, 5, 7)
DEFAULT_RUNNING = 48


def resolve_speculation(
    args: Any, target: Mapping[str, Any], draft: Mapping[str, Any] | None, say: Say
) -> None:
    """Fill in, rewrite or refuse the speculation flags in `args`.

    `target` and `draft` are the config.json of the two models.
    """
    _check_windows(args)
    if args.speculative_use_block_verification:
        _check_block_verification(args)
    if args.speculative_algorithm is None:
        return
    _settle_name(args, draft)
    if args.speculative_algorithm is not None and args.attention_backend == "flex_attention":
        raise AssertionError(
            "Speculative decoding is currently not supported with Flex Attention backend"
        )
    if args.speculative_algorithm in ("EAGLE", "EAGLE3", "STANDALONE"):
        _resolve_eagle(args, target, say)
    elif args.speculative_algorithm == "NGRAM":
        _resolve_ngram(args, say)
    elif args.speculative_algorithm in ("DFLASH", "DSPARK", "FROZEN_KV_MTP"):
        _limit_running(args, say)


def _check_windows(args: Any) -> None:
    window, sink = args.speculative_draft_window_size, args.speculative_draft_sink_size
    if window is not None and window <= 0:
        raise ValueError("--speculative-draft-window-size must be positive.")
    if sink and window is None:
        raise ValueError("--speculative-draft-sink-size requires --speculative-draft-window-size.")


def _check_block_verification(args: Any) -> None:
    algorithm = (args.speculative_algorithm or "").upper()
    if args.device != "cuda":
        raise ValueError("--speculative-use-block-verification only supports CUDA or ROCm.")
    if algorithm not in ("EAGLE", "EAGLE3", "NEXTN", "DFLASH", "DSPARK"):
        raise ValueError(
            "--speculative-use-block-verification only supports "
            "EAGLE / EAGLE3 / NEXTN / DFLASH / DSPARK."
        )
    if algorithm in ("EAGLE", "EAGLE3", "NEXTN"):
        args.speculative_use_rejection_sampling = True


def _settle_name(args: Any, draft: Mapping[str, Any] | None) -> None:
    asked = args.speculative_algorithm
    args.speculative_algorithm = asked.upper()
    if args.speculative_algorithm == "NEXTN":
        args.speculative_algorithm = "EAGLE"
    if args.speculative_algorithm not in (*BUILT_IN, "NONE"):
        raise ValueError(f"Unknown speculative algorithm name: {asked}")
    if args.speculative_algorithm == "EAGLE" and _architecture(draft) in GEMMA_DRAFTS:
        args.speculative_algorithm = "FROZEN_KV_MTP"


def _architecture(config: Mapping[str, Any] | None) -> str | None:
    found = (config or {}).get("architectures") or [None]
    return found[0] if isinstance(found, list) else None


def _limit_running(args: Any, say: Say) -> None:
    if args.max_running_requests is not None:
        return
    args.max_running_requests = DEFAULT_RUNNING
    say(
        f"Max running requests is reset to {DEFAULT_RUNNING} for speculative decoding. You can "
        "override this by explicitly setting --max-running-requests."
    )


def _resolve_eagle(args: Any, target: Mapping[str, Any], say: Say) -> None:
    if args.speculative_algorithm == "STANDALONE":
        _check_standalone(args)
    _limit_running(args, say)
    if args.device == "cpu":
        say("Overlap schedule is not implemented for speculative decoding on CPU.")
        args.disable_overlap_schedule = True
    if args.disable_overlap_schedule:
        say(
            "Non-overlap (synchronous) spec v2 is used for "
            "eagle/eagle3/standalone speculative decoding."
        )
    if args.speculative_algorithm == "STANDALONE" and args.enable_mixed_chunk:
        args.enable_mixed_chunk = False
        say(
            "Mixed chunked prefill is disabled: STANDALONE speculative decoding "
            "does not support it."
        )
    _find_draft(args, target, say)
    _fill_in(args, target, say)
    _check_sampling(args)
    _fit_chain(args, say)
    _check_pages(args)


def _check_standalone(args: Any) -> None:
    if args.attn_dp_size > 1:
        raise ValueError("Currently standalone speculative decoding does not support dp attention.")
    if args.speculative_use_rejection_sampling:
        raise NotImplementedError(
            "--speculative-use-rejection-sampling only supports EAGLE / EAGLE3."
        )


def _find_draft(args: Any, target: Mapping[str, Any], say: Say) -> None:
    if _architecture(target) not in OWN_DRAFT_LAYER_MODELS:
        return
    if args.speculative_draft_model_path is not None:
        say("DeepSeek MTP does not require setting speculative_draft_model_path.")
    else:
        args.speculative_draft_model_path = args.model_path


def _fill_in(args: Any, target: Mapping[str, Any], say: Say) -> None:
    if args.speculative_adaptive and not _adapts(args, say):
        args.speculative_adaptive = False
    if args.speculative_adaptive:
        _fill_in_adaptive(args)
        return
    if args.speculative_num_steps is not None:
        return
    given = (args.speculative_eagle_topk, args.speculative_num_draft_tokens)
    if given != (None, None):
        raise AssertionError
    is_tree = (
        _architecture(target) in AUTO_TREE_MODELS and args.speculative_algorithm != "STANDALONE"
    )
    steps, topk, tokens = (5, 4, 8) if is_tree else (3, 1, 4)
    args.speculative_num_steps = steps
    args.speculative_eagle_topk = topk
    args.speculative_num_draft_tokens = tokens


def _adapts(args: Any, say: Say) -> bool:
    reason = None
    if args.speculative_algorithm not in ("EAGLE", "EAGLE3"):
        reason = (
            f"speculative_algorithm={args.speculative_algorithm} (only EAGLE/EAGLE3 are supported)"
        )
    elif args.speculative_eagle_topk not in {None, 1}:
        reason = f"speculative_eagle_topk={args.speculative_eagle_topk} (only 1 is supported)"
    elif args.attn_dp_size > 1:
        reason = "dp attention is not supported"
    if reason is not None:
        say(f"speculative_adaptive disabled: {reason}. Falling back to static speculative params.")
    return reason is None


def _fill_in_adaptive(args: Any) -> None:
    steps = _candidate_steps(args.speculative_adaptive_config)
    if args.speculative_num_steps is None:
        args.speculative_num_steps = steps[len(steps) // 2]
    elif args.speculative_num_steps not in steps:
        raise ValueError(
            f"--speculative-num-steps={args.speculative_num_steps} is not in the adaptive config "
            f"candidate_steps {steps}. Pass one of those values."
        )
    args.speculative_eagle_topk = 1
    args.speculative_num_draft_tokens = args.speculative_num_steps + 1


def _candidate_steps(path: str | None) -> list[int]:
    if path is None:
        return list(DEFAULT_STEPS)
    config = json.loads(Path(path).read_text())
    sizes = [key for key in config if key.isdigit()]
    if not sizes:
        raise ValueError(
            "speculative_adaptive_config must contain at least one integer-string BS key, "
            f'e.g. {{"1": {{"candidate_steps": [1,3,7]}}}}. Got keys: {list(config)}'
        )
    union: set[int] = set()
    for size in sizes:
        steps = config[size].get("candidate_steps")
        if not steps or not all(isinstance(n, int) and n >= 0 for n in steps):
            raise ValueError(
                f"BS {size}: candidate_steps must be a list of non-negative ints, got {steps}"
            )
        union.update(steps)
    return sorted(union)


def _check_sampling(args: Any) -> None:
    if not args.speculative_use_rejection_sampling:
        return
    if args.speculative_eagle_topk != 1:
        raise ValueError(
            "--speculative-use-rejection-sampling requires --speculative-eagle-topk=1."
        )
    thresholds = (args.speculative_accept_threshold_single, args.speculative_accept_threshold_acc)
    if thresholds != (1.0, 1.0):
        raise ValueError(
            "--speculative-use-rejection-sampling is incompatible with "
            "--speculative-accept-threshold-single / --speculative-accept-threshold-acc; "
            "rejection sampling ignores the accept thresholds."
        )


def _fit_chain(args: Any, say: Say) -> None:
    wanted = args.speculative_num_steps + 1
    if args.speculative_eagle_topk == 1 and args.speculative_num_draft_tokens != wanted:
        say(
            "speculative_num_draft_tokens is adjusted to speculative_num_steps + 1 "
            "when speculative_eagle_topk == 1"
        )
        args.speculative_num_draft_tokens = wanted


def _check_pages(args: Any) -> None:
    backends = {
        args.attention_backend, args.decode_attention_backend, args.prefill_attention_backend,
    }  # fmt: skip
    if "trtllm_mha" in backends and args.speculative_eagle_topk > 1:
        raise ValueError("trtllm_mha backend only supports topk = 1 for speculative decoding.")
    if (
        args.speculative_eagle_topk > 1
        and args.page_size > 1
        and args.attention_backend not in TREE_BACKENDS
    ):
        raise ValueError(
            f"speculative_eagle_topk > 1 with page_size > 1 is only supported on {TREE_BACKENDS}; "
            f"got attention_backend={args.attention_backend!r}. Use page_size == 1 or one of "
            "those backends."
        )


def _resolve_ngram(args: Any, say: Say) -> None:
    if args.device not in {"cuda", "cpu", "xpu"}:
        raise ValueError("Ngram speculative decoding only supports CUDA, CPU, or XPU devices.")
    if args.speculative_adaptive:
        args.speculative_adaptive = _adapts(args, say)
    if args.device == "cpu":
        say("Overlap schedule is not implemented for speculative decoding on CPU.")
        args.disable_overlap_schedule = True
    _limit_running(args, say)
    args.enable_mixed_chunk = False
    args.speculative_eagle_topk = args.speculative_ngram_max_bfs_breadth
    if args.speculative_num_draft_tokens is None:
        args.speculative_num_draft_tokens = 12
        say(
            "speculative_num_draft_tokens is set to 12 by default for ngram speculative decoding. "
            "You can override this by explicitly setting --speculative-num-draft-tokens."
        )
    if args.speculative_num_steps is None:
        args.speculative_num_steps = (
            args.speculative_num_draft_tokens // args.speculative_eagle_topk
        )
    say("The mixed chunked prefill are disabled because of using ngram speculative decoding.")
    _check_corpus(args)
    if (
        args.speculative_eagle_topk > 1
        and args.page_size > 1
        and args.attention_backend != "flashinfer"
    ):
        raise ValueError(
            f"speculative_eagle_topk({args.speculative_eagle_topk}) > 1 with "
            f"page_size({args.page_size}) > 1 is unstable and produces incorrect results for "
            "paged attention backends. This combination is only supported for the 'flashinfer' "
            "backend."
        )
    if args.attn_dp_size > 1:
        raise ValueError("Currently ngram speculative decoding does not support dp attention.")


def _check_corpus(args: Any) -> None:
    if args.speculative_ngram_external_corpus_path is None:
        return
    budget, most = args.speculative_ngram_external_sam_budget, args.speculative_num_draft_tokens - 1
    if budget <= 0:
        raise ValueError(
            "--speculative-ngram-external-sam-budget must be positive when "
            "--speculative-ngram-external-corpus-path is set."
        )
    if args.speculative_ngram_external_corpus_max_tokens <= 0:
        raise ValueError("--speculative-ngram-external-corpus-max-tokens must be positive.")
    if budget > most:
        raise ValueError(
            "speculative_ngram_external_sam_budget must be less than or equal to "
            f"speculative_num_draft_tokens - 1 ({most})."
        )


def check_stages(args: Any, *, is_allowed: bool) -> None:
    """Refuse pipeline stages beside speculation; `is_allowed` is SGLANG_ENABLE_PP_SPEC."""
    if args.speculative_algorithm is None or args.pp_size <= 1:
        return
    if args.speculative_algorithm != "EAGLE" or args.enable_multi_layer_eagle:
        raise AssertionError(
            "Pipeline parallelism currently only supports EAGLE (non-multi-layer) "
            "speculative decoding"
        )
    if not is_allowed and args.disaggregation_mode != "prefill":
        raise AssertionError(
            "PP + speculative decoding (MTP) is only supported on prefill nodes "
            "(disaggregation-mode=prefill)"
        )
