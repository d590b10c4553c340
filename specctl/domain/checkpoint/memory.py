"""What a draft takes of the GPUs' memory, from shapes and dtypes as they are stored.

SGLang 0.5.23: `fc` is a plain layer that every rank holds whole; embedding, attention, MLP and head
are split over the ranks. The embedding is the target's where the widths agree, the head too under
EAGLE. A draft stored in another dtype than it runs in takes more or less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import hinted, passed
from specctl.domain.checkpoint.kinds import Kind, kind_in
from specctl.domain.checkpoint.mtp import mtp_names
from specctl.domain.figures import GIB, gib

if TYPE_CHECKING:
    from specctl.domain.checkpoint.values import Checkpoint, Finding, ModelConfig, Pairing, Tensor

KV_BYTES = 2
"""Of one cached number: the cache is 16 bits wide unless it is told otherwise."""

_TABLES = ("d2t", "t2d")
_WHOLE = ("fc.", "norm")


@dataclass(frozen=True, slots=True)
class DraftMemory:
    """What one draft takes."""

    weight_bytes: int
    """Of all ranks together, what every rank holds counted once."""

    per_gpu_bytes: int
    tp_size: int
    kv_bytes_per_token: int | None
    """On one GPU, beside the target's own cache; None when config.json does not tell."""

    shared: tuple[str, ...] = ()
    """What is the target's, so it costs nothing."""


def memory_of(pairing: Pairing) -> DraftMemory | None:
    """The draft's memory; None when its headers were not read."""
    draft = pairing.draft
    kind, config = kind_in(draft.config), draft.config
    if not draft.tensors or config is None:
        return None
    loaded = [t for t in draft.tensors if t.name.rpartition(".")[2] not in _TABLES]
    shared: tuple[str, ...] = ()
    if kind in (Kind.EAGLE, Kind.EAGLE3):
        shared = _shared(draft, config, kind)
        loaded = [t for t in loaded if not any(word in t.name for word in shared)]
    elif kind is Kind.WITH_MTP and pairing.algorithm != "STANDALONE":
        wanted = set(mtp_names(draft))
        loaded, shared = [t for t in loaded if t.name in wanted], ("embed_tokens", "lm_head")
    whole = sum(t.size_bytes for t in loaded if _is_whole(t))
    total = sum(t.size_bytes for t in loaded)
    return DraftMemory(
        weight_bytes=total,
        per_gpu_bytes=whole + (total - whole) // pairing.tp_size,
        tp_size=pairing.tp_size,
        kv_bytes_per_token=_kv_bytes(config, kind, pairing.tp_size),
        shared=shared,
    )


def _shared(draft: Checkpoint, config: ModelConfig, kind: Kind) -> tuple[str, ...]:
    is_as_wide = config.target_hidden_size in (None, config.hidden_size)
    found = ["embed_tokens"] if is_as_wide else []
    is_reduced = config.draft_vocab_size is not None or draft.tensor("d2t") is not None
    if kind is Kind.EAGLE or not is_reduced:
        found.append("lm_head")
    return tuple(found)


def _is_whole(tensor: Tensor) -> bool:
    return any(word in tensor.name for word in _WHOLE)


def _kv_bytes(config: ModelConfig, kind: Kind, tp_size: int) -> int | None:
    layers = config.mtp_layers if kind is Kind.WITH_MTP else config.layers
    if config.kv_rank is not None:
        return config.kv_rank * (layers or 1) * KV_BYTES
    heads = config.kv_heads or config.heads
    size = config.head_dim
    if size is None and config.hidden_size and config.heads:
        size = config.hidden_size // config.heads
    if heads is None or size is None:
        return None
    return 2 * max(1, heads // tp_size) * size * (layers or 1) * KV_BYTES


def size_words(size: int) -> str:
    """`1.4 GiB`; below a tenth of that in MiB."""
    return f"{gib(size)} GiB" if size >= GIB / 10 else f"{size / 2**20:.1f} MiB"


def check_memory(pairing: Pairing) -> Finding | None:
    """The memory in words."""
    found, key = memory_of(pairing), "memory"
    if pairing.draft.config is None:
        return None
    if found is None:
        return hinted(key, "not known: the draft's headers were not read")
    gpus = "1 GPU" if found.tp_size == 1 else f"each of {found.tp_size} GPUs"
    words = f"{size_words(found.per_gpu_bytes)} on {gpus}"
    if found.kv_bytes_per_token is not None:
        words += f", and {found.kv_bytes_per_token:,} bytes of cache per token"
    if found.shared:
        words += f" ({' and '.join(found.shared)} shared with the target)"
    return passed(key, words)
