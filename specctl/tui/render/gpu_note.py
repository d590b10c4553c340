"""What the bottom edge says of the GPU under the cursor: why a value is not there, its links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.sample_words import GPU_WORDS, SERVER_WORDS
from specctl.tui.render.lines import UNKNOWN, Line, clip, width

if TYPE_CHECKING:
    from specctl.domain.sample import GpuSample, ServerSample


def gpu_note(gpu: GpuSample, cells: int) -> Line:
    """Its links as far as they are read, then a reason for each value that is not there."""
    if gpu.lost:
        return clip([("✗ ", "bad"), (str(gpu.reason("utilization_percent")), "text")], cells)
    links = [
        *_rates("PCIe", gpu.pcie_rx_bytes_per_s, gpu.pcie_tx_bytes_per_s),
        *_rates("NVLink", gpu.nvlink_rx_bytes_per_s, gpu.nvlink_tx_bytes_per_s),
    ]
    missing = {
        label: str(gpu.reason(name))
        for name, label in GPU_WORDS.items()
        if getattr(gpu, name) is None
    }
    return clip([*links, *_reasons(missing, cells - width(links))], cells)


def _rates(name: str, received: float | None, sent: float | None) -> Line:
    if received is None or sent is None:
        return []
    words = " ".join(f"{value / figures.GB:.1f}" for value in (received, sent))
    return [(name + " ", "dim"), (words, "text"), (" GB/s  ", "dim")]


def server_note(sample: ServerSample | None, cells: int) -> Line:
    """Why a number of a server is not there."""
    if sample is None or sample.is_idle:
        return []
    missing = {
        label: str(sample.reason(name))
        for name, label in SERVER_WORDS.items()
        if getattr(sample, name) is None
    }
    return _reasons(missing, cells)


def _reasons(missing: dict[str, str], cells: int) -> Line:
    """`— MEM °C, ECC: not supported`: one for each reason, as many whole ones as fit."""
    out: Line = []
    for reason in dict.fromkeys(missing.values()):
        names = ", ".join(label for label, why in missing.items() if why == reason)
        item: Line = [UNKNOWN, (f" {names}: {reason}", "dim")]
        gap: Line = [("  ", "")] if out else []
        if width(out) + width(gap) + width(item) > cells:
            return out or clip(item, cells)
        out += [*gap, *item]
    return out
