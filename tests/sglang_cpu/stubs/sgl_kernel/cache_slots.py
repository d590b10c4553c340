"""Ops on the request-to-token table.

`table[r, p]` is the KV cache slot of position `p` of the request in row `r`. Shapes: table [rows,
pool_len] int32; rows, starts, ends, seq_lens [batch]. Outputs are written in place. `pool_len` is
the table's width, which the compiled ops need and these do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator


def _spans(rows: Tensor, starts: Tensor, ends: Tensor) -> Iterator[tuple[int, slice, slice]]:
    """Per request: its row, its positions, and their place in the ragged concatenation of all."""
    offset = 0
    for row, start, end in zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True):
        yield row, slice(start, end), slice(offset, offset + end - start)
        offset += end - start


def assign_req_to_token_pool_cpu(
    rows: Tensor, table: Tensor, starts: Tensor, ends: Tensor, slots: Tensor, pool_len: int
) -> None:
    """Write newly allocated `slots` [sum of ends - starts] into the table."""
    for row, positions, ragged in _spans(rows, starts, ends):
        table[row, positions] = slots[ragged].to(table.dtype)


def assign_extend_cache_locs_cpu(
    rows: Tensor, table: Tensor, starts: Tensor, ends: Tensor, slots: Tensor, pool_len: int
) -> None:
    """Read positions [start, end) of each request out of the table into `slots`."""
    for row, positions, ragged in _spans(rows, starts, ends):
        slots[ragged] = table[row, positions].to(slots.dtype)


def assign_draft_cache_locs_contiguous_cpu(
    rows: Tensor,
    table: Tensor,
    seq_lens: Tensor,
    slots: Tensor,
    pool_len: int,
    top_k: int,
    steps: int,
) -> None:
    """Read the `top_k * steps` slots that follow each sequence, where drafting will write."""
    assign_extend_cache_locs_cpu(rows, table, seq_lens, seq_lens + top_k * steps, slots, pool_len)


def build_draft_decode_metadata_cpu(
    table: Tensor, rows: Tensor, seq_lens: Tensor, top_k: int, steps: int, pool_len: int
) -> Tensor:
    """One row per draft branch, [batch * top_k, pool_len]: the sequence, then `steps` own slots."""
    branches = torch.zeros((len(rows) * top_k, pool_len), dtype=table.dtype)
    for request, (row, length) in enumerate(zip(rows.tolist(), seq_lens.tolist(), strict=True)):
        own = table[row, length : length + top_k * steps].view(top_k, steps)
        mine = branches[request * top_k : (request + 1) * top_k]
        mine[:, :length] = table[row, :length]
        mine[:, length : length + steps] = own
    return branches
