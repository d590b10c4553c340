"""The submodule that SGLang's n-gram path imports its one op from."""

from __future__ import annotations

from sgl_kernel.trees import reconstruct_indices_from_tree_mask

__all__ = ["reconstruct_indices_from_tree_mask"]
