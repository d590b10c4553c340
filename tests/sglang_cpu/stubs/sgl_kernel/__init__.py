"""Stand-in, in plain torch, for the CPU build of sgl-kernel, which no package index carries.

It holds the ops that SGLang 0.5.23 calls on CPU while it speculates with NGRAM, EAGLE or
STANDALONE; serving without speculation calls none. Any other op can be imported and fails, by name,
when called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from sgl_kernel.accepted import (
    copy_all_layer_kv_cache_cpu,
    fill_accept_out_cache_loc_cpu,
    fill_bonus_tokens_cpu,
)
from sgl_kernel.cache_slots import (
    assign_draft_cache_locs_contiguous_cpu,
    assign_extend_cache_locs_cpu,
    assign_req_to_token_pool_cpu,
    build_draft_decode_metadata_cpu,
)
from sgl_kernel.trees import (
    build_tree_kernel_efficient_cpu,
    reconstruct_indices_from_tree_mask,
    verify_tree_greedy_cpu,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__version__ = "0.0.0+cpu.standin"

__all__ = [
    "assign_draft_cache_locs_contiguous_cpu",
    "assign_extend_cache_locs_cpu",
    "assign_req_to_token_pool_cpu",
    "build_draft_decode_metadata_cpu",
    "build_tree_kernel_efficient_cpu",
    "copy_all_layer_kv_cache_cpu",
    "fill_accept_out_cache_loc_cpu",
    "fill_bonus_tokens_cpu",
    "reconstruct_indices_from_tree_mask",
    "verify_tree_greedy_cpu",
]


def __getattr__(name: str) -> Callable[..., NoReturn]:
    if name.startswith("__"):
        raise AttributeError(name)

    def absent(*args: object, **kwargs: object) -> NoReturn:
        raise NotImplementedError(
            f"sgl_kernel.{name} has no CPU stand-in; it would go into tests/sglang_cpu/stubs"
        )

    return absent
