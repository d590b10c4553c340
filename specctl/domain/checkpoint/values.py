"""A model directory as its small files describe it: configuration, tensor names, tables, tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.missing import Reasons

DTYPE_BITS: Mapping[str, int] = {
    "F64": 64, "I64": 64, "U64": 64, "F32": 32, "I32": 32, "U32": 32, "F16": 16, "BF16": 16,
    "I16": 16, "U16": 16, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8, "I8": 8, "U8": 8, "BOOL": 8,
    "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip
"""Bits of one value, by the names the safetensors format has for them."""


class Severity(StrEnum):
    """How much a finding matters."""

    PASS = "pass"  # noqa: S105  not a password
    HINT = "hint"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    key: str
    """Short and stable, e.g. `fc-width`."""

    severity: Severity
    words: str
    means: str = ""
    """What it does to the accept length, or to the start; empty on pass."""

    next_step: str = ""


class WeightsForm(StrEnum):
    """How a directory holds its weights."""

    SAFETENSORS = "safetensors"
    PICKLE = "pickle"
    """`pytorch_model.bin` and its like: nothing can be read of it without unpickling."""

    GGUF = "gguf"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor as a safetensors header describes it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int = 0
    """Of its bytes, after the header."""

    end: int = 0

    @property
    def values(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)

    @property
    def size_bytes(self) -> int:
        """By its dtype, not by the offsets."""
        return self.values * DTYPE_BITS.get(self.dtype, 8) // 8


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What of `config.json` matters here; None where it does not say."""

    architectures: tuple[str, ...] = ()
    model_type: str | None = None
    hidden_size: int | None = None
    layers: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab_size: int | None = None
    draft_vocab_size: int | None = None
    """Of a draft that proposes fewer tokens than its target has."""

    target_hidden_size: int | None = None
    max_positions: int | None = None
    """The longest context it can be run with."""

    ties_embeddings: bool | None = None
    aux_layers: tuple[int, ...] | None = None
    """Ids of the target's layers an EAGLE-3 draft listens to; None for SGLang's default."""

    aux_count: int | None = None
    """`num_aux_hidden_states`, which wins over the length of `aux_layers`."""

    mtp_layers: int | None = None
    """Layers for multi-token prediction that the checkpoint says it brings."""

    quantization: str | None = None
    dtype: str | None = None
    block_size: int | None = None
    """Of a DFLASH draft."""

    target_layers: tuple[int, ...] | None = None
    """Ids of the target's layers a DFLASH draft listens to."""

    start_tokens: tuple[int, ...] = ()
    end_tokens: tuple[int, ...] = ()
    kv_rank: int | None = None
    """`kv_lora_rank + qk_rope_head_dim` of latent attention, which caches that and nothing else."""

    @property
    def architecture(self) -> str:
        """The one SGLang goes by: the first."""
        return self.architectures[0] if self.architectures else ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a directory's tokenizer files say without being loaded."""

    files: Mapping[str, int] = field(default_factory=dict)
    """Vocabulary files and their bytes."""

    specials: Mapping[int, str] = field(default_factory=dict)
    """Ids of special and added tokens."""

    end_tokens: tuple[int, ...] = ()
    start_tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One model directory, read."""

    name: str
    """As it was asked for: a path on the host, or a repository of its cache."""

    path: str = ""
    commit: str | None = None
    """Of a repository's snapshot; None for a path."""

    form: WeightsForm = WeightsForm.NONE
    files: Mapping[str, int] = field(default_factory=dict)
    """Files directly in the directory, and their bytes."""

    config: ModelConfig | None = None
    tensors: tuple[Tensor, ...] = ()
    """Of the headers that were read."""

    tensor_names: frozenset[str] = frozenset()
    """Of headers and index."""

    has_all_names: bool = False
    d2t: tuple[int, ...] | None = None
    """As stored."""

    t2d: bytes | None = None
    """One byte per target token."""

    tokens: Tokens = field(default_factory=Tokens)
    missing: Reasons = field(default_factory=dict)
    """Why what is None or empty could not be had: `config`, `tensors`, `d2t`, `t2d`, `index` …"""

    def tensor(self, ending: str) -> Tensor | None:
        """The first tensor called `ending`, with or without a prefix such as `model.`."""
        return next(
            (t for t in self.tensors if t.name == ending or t.name.endswith("." + ending)), None
        )

    @property
    def weight_bytes(self) -> int | None:
        """Of every tensor; None without headers."""
        return sum(tensor.size_bytes for tensor in self.tensors) if self.tensors else None


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The vocabulary files of two directories compared on the host."""

    same_file: bool | None = None
    """Byte by byte; None when one of them has none."""

    entries: tuple[int, int] | None = None
    """Tokens of the target and of the draft; None when the files could not be taken apart."""

    differing: int | None = None
    """Ids that stand for another token in each, or exist only in one."""

    examples: tuple[str, ...] = ()
    hashed_bytes: int = 0
    missing: Reasons = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """How often each token of a transcript was said."""

    counts: Mapping[int, int] = field(default_factory=dict)
    how: str = ""
    """Where the ids come from: `token ids of FILE`, `the host's tokenizer`."""


@dataclass(frozen=True, slots=True)
class BuildModels:
    """The model classes of an installed SGLang, as far as they were looked for."""

    path: str
    version: str | None
    classes: Mapping[str, str] = field(default_factory=dict)
    """Architecture to `FILE:LINE`, below the package."""

    captures: frozenset[str] = frozenset()
    """Files whose models can hand over the states of their layers."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Everything a draft is judged by."""

    target: Checkpoint
    draft: Checkpoint
    algorithm: str
    """As SGLang calls it, in capitals."""

    other: Checkpoint | None = None
    """A second draft to compare with."""

    vocabularies: Vocabularies = field(default_factory=Vocabularies)
    transcript: TokenCounts | None = None
    tp_size: int = 1
    build: BuildModels | None = None
    """Of the SGLang that would run; None where none was found, or searched."""

    context_length: int | None = None
    """What the server is told to run with; None for the target's own."""
