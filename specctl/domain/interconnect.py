"""What lies between GPUs, and what all-reduces of a model's message sizes cost there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.missing import Why

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.sample import GpuSample

UNEXERCISED = "NCCL: this path of specctl has not yet been exercised on GPUs"
PER_LAYER = 2
"""All-reduces of a tensor-parallel layer: after attention, and after the feed-forward part."""


@dataclass(frozen=True, slots=True)
class Link:
    """How one GPU is attached."""

    gpu: int
    pcie_generation: int | None
    pcie_generation_max: int | None
    pcie_width: int | None
    pcie_width_max: int | None
    has_nvlink: bool | None
    """None: the driver does not say."""


@dataclass(frozen=True, slots=True)
class ReducedSize:
    """All-reduces of one message size."""

    tokens: int
    """In a step: requests times tokens verified for each."""

    message_bytes: int
    median_s: float
    """Of one all-reduce."""

    fastest_s: float
    per_step_s: float
    """Of all layers of the model."""


@dataclass(frozen=True, slots=True)
class AllReduce:
    """What was measured with the host's own torch."""

    backend: str
    ranks: int
    layers: int
    torch: str
    sizes: tuple[ReducedSize, ...]
    notes: tuple[str, ...] = ()


def links_of(gpus: Sequence[GpuSample], chosen: Sequence[int] | None) -> tuple[Link, ...]:
    """The links of the chosen GPUs, of all when none is named."""
    return tuple(
        Link(
            gpu.index,
            gpu.pcie_generation,
            gpu.pcie_generation_max,
            gpu.pcie_width,
            gpu.pcie_width_max,
            _has_nvlink(gpu),
        )
        for gpu in gpus
        if chosen is None or gpu.index in chosen
    )


def _has_nvlink(gpu: GpuSample) -> bool | None:
    if gpu.nvlink_tx_bytes_per_s is not None or gpu.nvlink_rx_bytes_per_s is not None:
        return True
    is_absent = gpu.reason("nvlink_tx_bytes_per_s").why is Why.NOT_SUPPORTED
    return False if is_absent else None


def step_tokens(concurrencies: Sequence[int], draft_tokens: int | None) -> tuple[int, ...]:
    """Tokens in plain and in verify steps at these concurrencies, each once, rising."""
    widths = {1, draft_tokens or 1}
    return tuple(sorted({requests * width for requests in concurrencies for width in widths}))
