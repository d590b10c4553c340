"""One host: is it well, and does speculation pay?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.actions import Target
from specctl.tui.arrange import Places, arrange_host, is_short
from specctl.tui.panels.host import (
    GpusPanel,
    LogPanel,
    ProcessesPanel,
    ServerPanel,
    ThroughputPanel,
)
from specctl.tui.render.standing import worst
from specctl.tui.screen import PanelScreen, bindings
from specctl.tui.slots import tabs

if TYPE_CHECKING:
    from specctl.domain.server import Server
    from specctl.tui.panel import Panel

HOST_ROWS_WITHOUT_GPUS = 7
"""Processor, memory, disk, shm and traffic under the line that says there is no GPU."""

NAMES = {"server": "Server", "log": "Log", "processes": "Processes"}


class HostScreen(PanelScreen):
    """GPUs, throughput, server, log and processes of one host."""

    where = "host"
    AUTO_FOCUS = "#throughput"
    BINDINGS = bindings("host")

    def __init__(self, host: str, *, server: str | None = None) -> None:
        super().__init__()
        self.host = host
        self.slot = "server"
        """Which panel the shared slot of a short screen shows."""

        self.lower = "log"
        """Which of log and processes is shown where there is room for one."""

        self.gpus = GpusPanel()
        self.throughput = ThroughputPanel()
        self.server_panel = ServerPanel()
        self.log_panel = LogPanel()
        self.processes = ProcessesPanel()
        self._chosen = server
        self._lines = 0

    def panels(self) -> list[Panel]:
        """In the order of their numbers."""
        return [self.gpus, self.throughput, self.server_panel, self.log_panel, self.processes]

    @property
    def server(self) -> Server | None:
        """The chosen server; the one that needs eyes first while none was chosen."""
        state = self.specctl.scene.state.host(self.host)
        chosen = state.server(self._chosen) if self._chosen else None
        return chosen or worst(state)

    def lines_needed(self) -> int:
        """Rows of the first panel with its head."""
        sample = self.specctl.scene.state.host(self.host).sample
        if sample is None:
            return 2
        return 1 + len(sample.gpus) if sample.gpus else HOST_ROWS_WITHOUT_GPUS

    def places(self, cells: int, rows: int) -> Places:
        """By how many GPUs there are."""
        self._lines = self.lines_needed()
        return arrange_host(cells, rows, self._lines, slot=self.slot, lower=self.lower)

    def arranged(self) -> None:
        """Name the panels that share a slot with the one shown."""
        slots: dict[str, Panel] = {
            "server": self.server_panel,
            "log": self.log_panel,
            "processes": self.processes,
        }
        if not is_short(self.app.size.height):
            del slots["server"]
            self.server_panel.tabs = []
        hidden = [panel for panel in slots.values() if not panel.display]
        for panel in slots.values():
            panel.tabs = [] if self.zoomed is not None else tabs(hidden, NAMES)

    def crumbs(self) -> list[str]:
        """From the fleet; with the server when there are several."""
        servers = self.specctl.scene.state.host(self.host).servers or ()
        server = self.server
        tail = [server.name] if server is not None and len(servers) > 1 else []
        return ["Fleet", self.host, *tail]

    def target(self) -> Target:
        """This host and the chosen server."""
        scene = self.specctl.scene
        return Target(
            self.host, scene.state.host(self.host), self.server, scene.is_read_only(self.host)
        )

    def repaint(self) -> None:
        """Panels follow the chosen server; what is looked at stays chosen while it is there."""
        server = self.server
        self._chosen = name = server.name if server else None
        self.gpus.host = self.host
        for part in (self.throughput, self.server_panel, self.log_panel, self.processes):
            part.host, part.server_name = self.host, name
        if self.lines_needed() != self._lines:
            self.place()
        super().repaint()

    def show(self, host: str, server: str | None = None) -> None:
        """Turn to another host, and of several servers to the one named."""
        self.host, self._chosen = host, server
        self.log_panel.back = self.processes.top = self.gpus.at = 0
        self.repaint()

    def show_panel(self, panel: Panel) -> None:
        """Bring the panel into the slot it shares, then focus it."""
        if panel.id in {"log", "processes"}:
            self.lower = panel.id
        if panel.id in NAMES:
            self.slot = panel.id
        self.place()
        super().show_panel(panel)
        self.repaint()

    def do_cursor_left(self) -> None:
        """The server before."""
        self._choose(-1)

    def do_cursor_right(self) -> None:
        """The next server."""
        self._choose(1)

    def choose(self, name: str) -> None:
        """Turn to one server of the host."""
        self._chosen = name
        self.repaint()

    def _choose(self, step: int) -> None:
        servers = self.specctl.scene.state.host(self.host).servers or ()
        if servers:
            names = [server.name for server in servers]
            at = names.index(self.server.name) if self.server else 0
            self.choose(names[(at + step) % len(names)])

    def do_sibling_next(self) -> None:
        """The next host."""
        self._sibling(1)

    def do_sibling_previous(self) -> None:
        """The host before."""
        self._sibling(-1)

    def _sibling(self, step: int) -> None:
        names = self.specctl.host_order()
        if names:
            at = names.index(self.host) if self.host in names else 0
            self.show(names[(at + step) % len(names)])
