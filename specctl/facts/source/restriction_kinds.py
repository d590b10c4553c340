"""What a restriction is about, by the words of its message and its innermost test."""

from __future__ import annotations

import re

_KINDS = (
    ("dp-attention", r"dp[ _-]attention|attn_dp|data.parallel attention|dp_lm_head"),
    ("context-parallel", r"context.parallel|attn_cp|prefill_cp|enable_\w*_cp\b"),
    ("pipeline", r"\bpp_size|pipeline|\bPP\b"),
    ("device", r"\bdevice\b|\bCUDA\b|\bCPU\b|\bNPU\b|\bROCm\b|is_hip|is_cuda|is_npu"),
    ("mixed-chunk", r"mixed.chunk"),
    ("page-size", r"page_size|page size"),
    ("lora", r"\blora"),
    ("disaggregation", r"disaggregation|decoupled"),
    ("overlap", r"overlap|spec v2|SPEC_V2"),
    ("radix-cache", r"radix"),
    ("requests", r"max_running_requests|running requests"),
    ("adaptive", r"adaptive"),
    ("verification", r"rejection_sampling|block_verification|accept_threshold|rejection sampling"),
    ("window", r"window_size|sink_size"),
    ("top-k", r"eagle_topk|\btopk\b|top_k"),
    ("draft-tokens", r"num_draft_tokens|block_size|draft tokens"),
    ("steps", r"num_steps|\bsteps\b"),
    ("draft-model", r"draft_model|draft path|draft model|draft_path|checkpoint"),
    ("quantization", r"quantiz"),
    ("corpus", r"corpus|sam_budget"),
    ("moe", r"\bmoe\b|moe_|a2a"),
    ("cuda-graph", r"cuda_graph|cuda graph"),
    ("backend", r"backend"),
)
_PATTERNS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KINDS)
OTHER = "other"


def kind_of(words: str, test: str) -> str:
    """The first kind that the message names, else the first that its test names."""
    for text in (words, test):
        for kind, pattern in _PATTERNS:
            if pattern.search(text):
                return kind
    return OTHER
