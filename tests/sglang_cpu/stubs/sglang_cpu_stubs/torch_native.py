"""Teaches the `torch_native` attention backend to verify a draft tree, and to extend a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

if TYPE_CHECKING:
    from types import ModuleType


def store_kv(
    module: ModuleType, backend: Any, layer: Any, batch: Any, k: Tensor | None, v: Tensor | None
) -> None:
    """Write this pass's keys and values to their cache slots."""
    if k is not None and v is not None:
        where = module.KVWriteLoc(batch.out_cache_loc, backend.swa_out_cache_loc)
        backend.token_to_kv_pool.set_kv_buffer(layer, where, k, v)


def tree_mask(batch: Any) -> Tensor:
    """Which draft nodes each draft node may attend to, [batch, n, n]; a chain for one branch."""
    size, n, mask = batch.batch_size, batch.spec_info.draft_token_num, batch.spec_info.custom_mask
    if batch.spec_info.tree_topk == 1 or mask is None or mask.numel() < size * n * n:
        return torch.ones(n, n, dtype=torch.bool).tril().expand(size, n, n)
    chosen: Tensor = mask[: size * n * n].view(size, n, n).bool()
    return chosen


def attend_over_tree(backend: Any, q: Tensor, layer: Any, batch: Any) -> Tensor:
    """Attention of `n` draft nodes per request over its sequence and, among them, the tree.

    q and the result are [batch * n, heads * head_dim]; the pool's buffers are [slots, kv_heads,
    head_dim].
    """
    masks = tree_mask(batch)
    n = masks.shape[-1]
    keys = backend.token_to_kv_pool.get_key_buffer(layer.layer_id)
    values = backend.token_to_kv_pool.get_value_buffer(layer.layer_id)
    table = backend.req_to_token_pool.req_to_token
    queries = q.view(-1, n, layer.tp_q_head_num, layer.qk_head_dim).transpose(1, 2)
    outputs = []
    for request, (row, length) in enumerate(
        zip(batch.req_pool_indices.tolist(), batch.seq_lens.tolist(), strict=True)
    ):
        slots = table[row, : length + n].long()
        prefix = torch.ones(n, length, dtype=torch.bool)
        out = scaled_dot_product_attention(
            queries[request][None],
            keys[slots].transpose(0, 1)[None].to(q.dtype),
            values[slots].transpose(0, 1)[None].to(q.dtype),
            attn_mask=torch.cat([prefix, masks[request]], dim=1),
            scale=layer.scaling,
            enable_gqa=layer.tp_q_head_num != layer.tp_k_head_num,
        )
        outputs.append(out[0].transpose(0, 1))
    return torch.cat(outputs).reshape(q.shape[0], -1)


def amend(module: ModuleType) -> None:
    """Extend `TorchNativeAttnBackend` in place."""
    backend_class = module.TorchNativeAttnBackend
    plain_extend = backend_class.forward_extend
    plain_sdpa_extend = backend_class._run_sdpa_forward_extend

    def forward_extend(
        self: Any,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        layer: Any,
        batch: Any,
        save_kv_cache: bool = True,
    ) -> Any:
        if not batch.forward_mode.is_target_verify():
            return plain_extend(self, q, k, v, layer, batch, save_kv_cache)
        if save_kv_cache:
            store_kv(module, self, layer, batch, k, v)
        return attend_over_tree(self, q, layer, batch)

    def run_sdpa_forward_extend(
        self: Any,
        query: Tensor,
        output: Tensor,
        k_cache: Tensor,
        v_cache: Tensor,
        table: Tensor,
        rows: Tensor,
        seq_lens: Tensor,
        prefix_lens: Tensor | None,
        extend_lens: Tensor,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """A draft-extend batch carries no prefix lengths: they are what is left of the sequence."""
        prefix_lens = seq_lens - extend_lens if prefix_lens is None else prefix_lens
        lengths = (seq_lens, prefix_lens, extend_lens)
        return plain_sdpa_extend(
            self, query, output, k_cache, v_cache, table, rows, *lengths, *args, **kwargs
        )

    backend_class.forward_extend = forward_extend
    backend_class._run_sdpa_forward_extend = run_sdpa_forward_extend
