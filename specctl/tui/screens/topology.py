"""How the GPUs of a host reach each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.topology import Topology
from specctl.tui.render.topology import topology_lines
from specctl.tui.screens.reading import ReadingDialog, ReadPanel

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class TopologyDialog(ReadingDialog[Topology]):
    """Asks the host, then shows the matrix."""

    closes = frozenset({"escape", "q", "enter", "i"})

    def __init__(self, host: str, read: Callable[[], Awaitable[Topology]]) -> None:
        panel = ReadPanel(
            f"Interconnect of {host}", "Asking nvidia-smi topo -m", topology_lines, id="topology"
        )
        super().__init__(panel, read, "the interconnect", host=host)
