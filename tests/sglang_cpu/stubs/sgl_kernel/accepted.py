"""Ops that run once a verify step has decided what is accepted."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor


def fill_accept_out_cache_loc_cpu(
    accept_index: Tensor, slots: Tensor, accepted_slots: Tensor
) -> None:
    """Pack the slots of accepted nodes; `accept_index` holds flat node numbers, or -1."""
    flat = accept_index.flatten()
    kept = flat[flat >= 0].long()
    accepted_slots[: kept.numel()] = slots[kept]


def fill_bonus_tokens_cpu(
    accept_tokens: Tensor, accept_lens: Tensor, bonus: Tensor, stride: int
) -> None:
    """The last accepted token of each request, whose row holds `accept_lens` of `stride` tokens."""
    last = torch.arange(accept_lens.numel()) * stride + accept_lens.long() - 1
    bonus.copy_(accept_tokens.flatten()[last].to(bonus.dtype))


def copy_all_layer_kv_cache_cpu(
    buffers: Tensor, row_bytes: Tensor, targets: Tensor, sources: Tensor
) -> None:
    """Move cache rows from slots `sources` to slots `targets`, in every layer.

    `buffers` holds the address of each layer's K or V buffer and `row_bytes` the size of one slot
    in it. All sources are read before any target is written: a slot may be both.
    """
    moves = [(t, s) for t, s in zip(targets.tolist(), sources.tolist(), strict=True) if t != s]
    for address, size in zip(buffers.tolist(), row_bytes.tolist(), strict=True):
        rows = [ctypes.string_at(address + source * size, size) for _, source in moves]
        for (target, _), row in zip(moves, rows, strict=True):
            ctypes.memmove(address + target * size, row, size)
