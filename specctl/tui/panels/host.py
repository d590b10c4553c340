"""The panels of one host: GPUs, throughput, server, log, processes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.events import HostSampled, ServerSampled, ServersSeen
from specctl.tui.panel import Panel
from specctl.tui.render.alerts import OF_GPUS, OF_SERVER, OF_THROUGHPUT, alert_note, noted
from specctl.tui.render.gpu_note import server_note
from specctl.tui.render.gpus import draw_gpus
from specctl.tui.render.lines import width
from specctl.tui.render.listing import window
from specctl.tui.render.log import draw_log
from specctl.tui.render.processes import draw_processes, holders
from specctl.tui.render.server import draw_server, draw_short_server
from specctl.tui.render.throughput import draw_throughput

if TYPE_CHECKING:
    from specctl.domain.server import Server
    from specctl.tui.render.lines import Drawing
    from specctl.tui.scene import Scene


class GpusPanel(Panel):
    """One line a GPU; with the focus a cursor, whose GPU the bottom edge tells of."""

    number = "1"
    hears = frozenset({HostSampled})

    def __init__(self) -> None:
        super().__init__(id="gpus")
        self.host = ""
        self.at = self.top = 0

    def _total(self) -> int:
        sample = self.scene.state.host(self.host).sample
        return len(sample.gpus) if sample else 0

    def move(self, rows: int) -> None:
        """Put the cursor on another GPU."""
        self.at = min(max(0, self.at + rows), max(0, self._total() - 1))

    def pick(self, row: int) -> bool:
        """The row of a GPU was clicked."""
        is_gpu = 0 < row <= self._total() - self.top
        if is_gpu:
            self.at = self.top + row - 1
        return is_gpu

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The table from where it was scrolled to."""
        total = self._total()
        self.at = min(self.at, max(0, total - 1))
        self.top = window(self.at, self.top, max(1, rows - 1), total)
        at = self.at if self.has_focus and total else None
        drawing = draw_gpus(scene, self.host, cells, rows, top=self.top, at=at)
        if self.rule and at is not None:  # a rule has no bottom edge
            drawing = replace(drawing, summary=drawing.note)
        return noted(drawing, alert_note(scene, self.host, OF_GPUS), cells)


class ServerPart(Panel):
    """A panel about one server of a host."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self.host = ""
        self.server_name: str | None = None

    @property
    def server(self) -> Server | None:
        """The server, as it is now; None when there is none."""
        if self.server_name is None:
            return None
        return self.scene.state.host(self.host).server(self.server_name)


class ThroughputPanel(ServerPart):
    """Tokens per second and accept length against what they must beat."""

    number = "2"
    hears = frozenset({ServerSampled})

    def __init__(self) -> None:
        super().__init__(id="throughput")

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """Numbers and plots."""
        drawing = draw_throughput(scene, self.host, self.server, cells, rows)
        words = alert_note(scene, self.host, OF_THROUGHPUT, self.server_name)
        if not words and self.has_focus and self.server is not None:
            samples = scene.state.host(self.host).server_samples
            why = server_note(samples.get(self.server.name), cells - width(drawing.note) - 4)
            drawing = replace(drawing, note=[*drawing.note, *why])
        return noted(drawing, words, cells)


class ServerPanel(ServerPart):
    """State, evidence, origin, arguments."""

    number = "3"
    hears = frozenset({ServerSampled, ServersSeen})

    def __init__(self) -> None:
        super().__init__(id="server")

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The long form, or what a short screen has room for."""
        if self.rule:
            return draw_short_server(scene, self.host, self.server, cells, rows)
        drawing = draw_server(scene, self.host, self.server, cells, rows)
        words = alert_note(scene, self.host, OF_SERVER, self.server_name)
        return noted(drawing, words, cells)


class LogPanel(ServerPart):
    """The end of the log, or what was scrolled back to; built once a second."""

    number = "4"
    hears = frozenset()

    def __init__(self) -> None:
        super().__init__(id="log")
        self.back = 0
        """Lines between the last one shown and the last one read; 0 follows."""

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The lines in sight."""
        return draw_log(scene, self.host, self.server, cells, rows, back=self.back)

    def move(self, rows: int) -> None:
        """Scroll; at the end it follows again."""
        total = len(self.scene.log(self.host, self.server_name or ""))
        self.back = min(max(0, self.back - rows), max(0, total - self.inner_rows))


class ProcessesPanel(ServerPart):
    """Who holds the GPUs."""

    number = "5"
    hears = frozenset()

    def __init__(self) -> None:
        super().__init__(id="processes")
        self.top = 0

    def draw(self, scene: Scene, cells: int, rows: int) -> Drawing:
        """The list from where it was scrolled to."""
        return draw_processes(scene, self.host, self.server, cells, rows, top=self.top)

    def move(self, rows: int) -> None:
        """Scroll."""
        sample = self.scene.state.host(self.host).sample
        longest = len(holders(sample)) if sample else 0
        self.top = min(max(0, self.top + rows), max(0, longest - self.inner_rows + 1))
