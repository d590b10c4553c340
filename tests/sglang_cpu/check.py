"""Check the environment from inside: packages, stand-in ops, the n-gram matcher and the models.

Run by `build.sh` with the environment's own Python; exits 1 with every failure listed.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import struct
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import sgl_kernel
import torch

if TYPE_CHECKING:
    from collections.abc import Callable

MODELS = Path(__file__).parent / "models"
MODELS_LIMIT_BYTES = 10_000_000
RAGGED = torch.tensor([7, 8, 9])


def require(condition: bool, message: str) -> None:
    """`assert` that survives -O."""
    if not condition:
        raise AssertionError(message)


def equal(got: torch.Tensor, expected: list[object]) -> None:
    """Compare with nested lists."""
    require(got.tolist() == expected, f"expected {expected}, got {got.tolist()}")


def packages() -> str:
    """The agent's packages import, SGLang is the pinned one, and torch's build is named."""
    for name in ("httpx", "psutil", "pynvml"):
        importlib.import_module(name)
    version = importlib.import_module("sglang.version").__version__
    require(version == "0.5.23", f"SGLang is {version}")
    build = (
        "CPU build" if torch.version.cuda is None else "CUDA build: works, but is gigabytes larger"
    )
    return f"SGLang {version}, torch {torch.__version__} ({build})"


def request_to_token_table() -> None:
    """Slots go into the table and come out of it, request by request."""
    rows, starts, ends = torch.tensor([2, 0]), torch.tensor([1, 0]), torch.tensor([3, 1])
    table = torch.zeros((3, 4), dtype=torch.int32)
    sgl_kernel.assign_req_to_token_pool_cpu(rows, table, starts, ends, RAGGED, 4)
    equal(table, [[9, 0, 0, 0], [0, 0, 0, 0], [0, 7, 8, 0]])
    slots = torch.zeros(3, dtype=torch.int64)
    sgl_kernel.assign_extend_cache_locs_cpu(rows, table, starts, ends, slots, 4)
    equal(slots, [7, 8, 9])


def draft_branches() -> None:
    """Each of two branches sees the sequence and its own two slots."""
    table = torch.arange(20, dtype=torch.int32).view(2, 10)
    rows, lengths = torch.tensor([1]), torch.tensor([3])
    slots = torch.zeros(4, dtype=torch.int64)
    sgl_kernel.assign_draft_cache_locs_contiguous_cpu(rows, table, lengths, slots, 10, 2, 2)
    equal(slots, [13, 14, 15, 16])
    branches = sgl_kernel.build_draft_decode_metadata_cpu(table, rows, lengths, 2, 2, 10)
    equal(branches[:, :5], [[10, 11, 12, 13, 14], [10, 11, 12, 15, 16]])


def accepted_tokens() -> None:
    """Slots are packed, the last token of a row is its bonus, and cache rows can swap places."""
    packed = torch.zeros(4, dtype=torch.int64)
    index = torch.tensor([[0, 2, -1], [3, -1, -1]])
    sgl_kernel.fill_accept_out_cache_loc_cpu(index, torch.tensor([10, 11, 12, 13]), packed)
    equal(packed, [10, 12, 13, 0])
    bonus = torch.zeros(2, dtype=torch.int64)
    tokens = torch.tensor([[1, 2, 3], [4, 5, 6]])
    sgl_kernel.fill_bonus_tokens_cpu(tokens, torch.tensor([2, 1]), bonus, 3)
    equal(bonus, [2, 4])
    cache = torch.arange(8, dtype=torch.float32).view(4, 2)
    address, size = (
        torch.tensor([cache.data_ptr()]),
        torch.tensor([2 * ctypes.sizeof(ctypes.c_float)]),
    )
    sgl_kernel.copy_all_layer_kv_cache_cpu(
        address, size, torch.tensor([0, 1]), torch.tensor([1, 0])
    )
    equal(cache, [[2, 3], [0, 1], [4, 5], [6, 7]])


def eagle_tree() -> None:
    """Root with children 1 and 2, node 3 below 1; the sequence is five tokens long."""
    tree = torch.full((3, 1, 4), -1)
    positions = torch.zeros(4, dtype=torch.int64)
    mask = torch.ones(4 * 4, dtype=torch.bool)
    parent_list, selected, lengths = (
        torch.tensor([[-1, 0, 1]]),
        torch.tensor([[0, 1, 2]]),
        torch.tensor([5]),
    )
    sgl_kernel.build_tree_kernel_efficient_cpu(
        parent_list, selected, lengths, mask, positions, tree[0], tree[1], tree[2], 2, 2, 4, 1
    )
    equal(tree[:, 0], [[0, 1, 2, 3], [1, 3, -1, -1], [-1, 2, -1, -1]])
    equal(positions, [5, 6, 6, 7])
    equal(mask.view(4, 4).int(), [[1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]])

    again = torch.full((3, 1, 4), -1)
    sgl_kernel.reconstruct_indices_from_tree_mask(
        mask, lengths, positions, again[0], again[1], again[2], 1, 4
    )
    equal(again, tree.tolist())
    equal(positions, [5, 6, 6, 7])


def greedy_verification() -> None:
    """The target agrees with nodes 1 and 3; its own choice after node 3 is the bonus."""
    predicts = torch.zeros(4, dtype=torch.int32)
    accept_index, right = torch.full((1, 3), -1), torch.zeros(1, dtype=torch.int32)
    sgl_kernel.verify_tree_greedy_cpu(
        predicts=predicts,
        accept_index=accept_index,
        accept_token_num=right,
        candidates=torch.tensor([[50, 61, 62, 71]]),
        retrive_index=torch.tensor([[0, 1, 2, 3]]),
        retrive_next_token=torch.tensor([[1, 3, -1, -1]]),
        retrive_next_sibling=torch.tensor([[-1, 2, -1, -1]]),
        target_predict=torch.tensor([[61, 71, 0, 99]]),
    )
    equal(accept_index, [[0, 1, 3]])
    equal(right, [2])
    equal(predicts, [61, 71, 0, 99])


def ngram_matcher() -> str:
    """SGLang's C++ matcher compiles (once per environment) and finds a sequence it was given."""
    from sglang.srt.speculative.cpp_ngram.ngram_corpus import NgramCorpus

    started = time.monotonic()
    corpus = NgramCorpus(
        max_trie_depth=18, min_bfs_breadth=1, max_bfs_breadth=8, draft_token_num=4, capacity=10_000
    )
    corpus.batch_put([[11, 12, 13, 14, 15, 16, 17]])
    corpus.synchronize()
    drafts, _ = corpus.batch_get(["request"], [[11, 12, 13]], [3])
    require(list(drafts)[:4] == [13, 14, 15, 16], f"drafted {list(drafts)}")
    return f"ready in {time.monotonic() - started:.1f} s"


def models() -> str:
    """Weights are float16, agree with their configuration and are small."""
    for name in ("target", "draft", "eagle"):
        raw = (MODELS / name / "model.safetensors").read_bytes()
        header = json.loads(raw[8 : 8 + struct.unpack("<Q", raw[:8])[0]])
        config = json.loads((MODELS / name / "config.json").read_text())
        kinds = {tensor["dtype"] for key, tensor in header.items() if key != "__metadata__"}
        require(kinds == {"F16"}, f"{name} holds {kinds}")
        layers = {key.split("layers.")[1].split(".")[0] for key in header if "layers." in key}
        require(len(layers) == config["num_hidden_layers"], f"{name} has layers {sorted(layers)}")
    size = sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file())
    require(size <= MODELS_LIMIT_BYTES, f"{size} bytes in {MODELS}")
    return f"{size / 1e6:.1f} MB"


CHECKS: tuple[Callable[[], str | None], ...] = (
    packages,
    request_to_token_table,
    draft_branches,
    accepted_tokens,
    eagle_tree,
    greedy_verification,
    ngram_matcher,
    models,
)


def main() -> int:
    """Run every check; one line each on stderr."""
    failed = 0
    for check in CHECKS:
        name = check.__name__.replace("_", " ")
        try:
            print(f"  {name}: {check() or 'ok'}", file=sys.stderr)
        except Exception as error:  # noqa: BLE001 - all of them are reported
            failed += 1
            print(f"  {name}: FAILED: {error!r}", file=sys.stderr)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
