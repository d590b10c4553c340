"""Ops on draft trees of `n` nodes per request, written on `sglang_cpu_stubs.draft_tree`.

Shapes: parent_list [batch, groups], selected [batch, n - 1], seq_lens [batch]; retrieve_index,
next_token, next_sibling, candidates [batch, n]; positions, predicts [batch * n]; accept_index
[batch, most tokens a step can accept]. A flat node number is `request * n + node`. Outputs are
written in place.
"""

from __future__ import annotations

import torch
from sglang_cpu_stubs import draft_tree
from torch import Tensor

QLEN_ONLY = 1  # SGLang's TreeMaskMode: 0 is a mask over prefix and tree, 1 over the tree alone


def _flat_numbers(batch: int, n: int) -> Tensor:
    return torch.arange(batch * n).view(batch, n)


def _write_links(parents: list[int], next_token: Tensor, next_sibling: Tensor) -> None:
    for out, values in zip((next_token, next_sibling), draft_tree.links(parents), strict=True):
        out.copy_(torch.tensor(values, dtype=out.dtype))


def reconstruct_indices_from_tree_mask(
    mask: Tensor,
    seq_lens: Tensor,
    positions: Tensor,
    retrieve_index: Tensor,
    next_token: Tensor,
    next_sibling: Tensor,
    batch: int,
    n: int,
) -> None:
    """NGRAM: links and positions, from the mask of each node's ancestors, [batch * n * n]."""
    rows = mask[: batch * n * n].view(batch, n, n).bool()
    depths = rows.tril(-1).sum(-1)
    positions[: batch * n] = (depths + seq_lens.view(batch, 1)).flatten().to(positions.dtype)
    retrieve_index.copy_(_flat_numbers(batch, n).view_as(retrieve_index))
    for request, ancestors in enumerate(rows.tolist()):
        parents = draft_tree.parents_of_mask(ancestors)
        _write_links(
            parents, next_token.view(batch, n)[request], next_sibling.view(batch, n)[request]
        )


def build_tree_kernel_efficient_cpu(
    parent_list: Tensor,
    selected: Tensor,
    seq_lens: Tensor,
    mask: Tensor,
    positions: Tensor,
    retrieve_index: Tensor,
    next_token: Tensor,
    next_sibling: Tensor,
    top_k: int,
    steps: int,
    n: int,
    mask_mode: int,
) -> None:
    """EAGLE and STANDALONE: links, positions and mask, from the candidates that drafting kept."""
    batch = seq_lens.numel()
    retrieve_index.copy_(_flat_numbers(batch, n))
    offset = 0
    for request, length in enumerate(seq_lens.tolist()):
        parents = draft_tree.parents_of_selection(
            parent_list[request].tolist(), selected[request].tolist(), top_k
        )
        paths = [draft_tree.path_to_root(parents, node) for node in range(n)]
        _write_links(parents, next_token[request], next_sibling[request])
        depths = torch.tensor([length + len(path) - 1 for path in paths], dtype=positions.dtype)
        positions.view(-1)[request * n : (request + 1) * n] = depths
        columns = n if mask_mode == QLEN_ONLY else length + n
        own = mask.view(-1)[offset : offset + n * columns].view(n, columns)
        own[:, columns - n :] = torch.tensor(
            [[node in path for node in range(n)] for path in paths]
        )
        offset += n * columns


def verify_tree_greedy_cpu(
    predicts: Tensor,
    accept_index: Tensor,
    accept_token_num: Tensor,
    candidates: Tensor,
    retrive_index: Tensor,
    retrive_next_token: Tensor,
    retrive_next_sibling: Tensor,
    target_predict: Tensor,
) -> None:
    """Accept the longest path that agrees with the target's choices.

    SGLang calls it by keyword, hence the spelling of the parameters. Writes the target's choice at
    every accepted node to `predicts`, the flat numbers of those nodes to `accept_index`, and to
    `accept_token_num` how many drafted tokens (the root is not one) were right.
    """
    choices = target_predict.flatten().tolist()
    trees = zip(
        candidates.tolist(),
        retrive_index.tolist(),
        retrive_next_token.tolist(),
        retrive_next_sibling.tolist(),
        strict=True,
    )
    for request, (tokens, flat, children, siblings) in enumerate(trees):
        after = [choices[number] for number in flat]
        nodes = draft_tree.accepted_nodes(tokens, children, siblings, after, accept_index.shape[1])
        for node in nodes:
            predicts[flat[node]] = after[node]
        accept_index[request, : len(nodes)] = torch.tensor(
            [flat[node] for node in nodes], dtype=accept_index.dtype
        )
        accept_token_num[request] = len(nodes) - 1
