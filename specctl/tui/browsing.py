"""Trees being looked at: what was read of them, and the ways to their screens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.state import Link
from specctl.tui.desk import SourceDesk
from specctl.tui.differing import Compared, compare_trees
from specctl.tui.later import Later
from specctl.tui.render.chrome import simulated
from specctl.tui.render.standing import server_standing, worst
from specctl.tui.render.syntax import read_code
from specctl.tui.screens.choice import Choice, ChoiceDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.drift import DriftDialog
from specctl.tui.screens.source import SourceScreen
from specctl.tui.screens.topology import TopologyDialog

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from specctl.domain.source import Place
    from specctl.tui.actions import Target
    from specctl.tui.application import SpecctlApp
    from specctl.tui.differing import Differing
    from specctl.tui.render.lines import Line
    from specctl.tui.screens.difference import Texts
    from specctl.tui.services import Services


class Browsing:
    """Reads in workers of the app, so that leaving a screen loses nothing."""

    def __init__(self, app: SpecctlApp) -> None:
        self._app = app
        self.desks: dict[str, SourceDesk] = {}

    def _services(self) -> Services | None:
        if self._app.services is None:
            self._app.tell("Not yet", "The workspace is still being read.", severity="warning")
        return self._app.services

    def _work(self, work: Awaitable[None], group: str) -> None:
        """Begin it, instead of what goes on in its group."""
        self._app.run_worker(work, group=group, exclusive=True)

    # ---------------------------------------------------------------- source

    def desk(self, host: str) -> SourceDesk:
        """What is known of a host's tree."""
        return self.desks.setdefault(host, SourceDesk(host))

    def do_source_open(self) -> None:
        """The tree of the host that is acted on."""
        host = self._app.target().host
        if host is not None:
            self.open_source(host)

    def open_source(self, host: str, place: Place | None = None) -> None:
        """A host's tree, at a line of it when one is named."""
        screen = self._app.front
        if isinstance(screen, SourceScreen):
            screen.show(self.desk(host))
            if place is not None:
                screen.show_place(place)
        else:
            self._app.go_to(SourceScreen(self.desk(host), place))

    def read_tree(self, desk: SourceDesk, *, afresh: bool = False) -> None:
        """Read the tree, or look whether it is still the same."""
        services = self._services()
        if services is not None and not desk.is_reading:
            desk.is_reading, desk.since_s = True, self._app.scene.clock_s
            self._work(Later(self._tree, services, desk, afresh=afresh), f"tree {desk.host}")

    async def _tree(self, services: Services, desk: SourceDesk, *, afresh: bool) -> None:
        try:
            desk.take(await services.read_source(desk.host, afresh=afresh))
        except SpecctlError as error:
            desk.error = error
            if desk.tree is not None:
                self._app.tell(error.message, error.hint, severity="error")
        finally:
            desk.is_reading = False
        screen = self._app.front
        if isinstance(screen, SourceScreen) and screen.desk is desk:
            screen.changed()

    def read_file(self, desk: SourceDesk, place: Place, *, after_s: float = 0.0) -> None:
        """Read a file and show the line; asking for another one forgets this."""
        services = self._services()
        if services is not None:
            self._work(Later(self._file, services, desk, place, after_s), "source file")

    async def _file(
        self, services: Services, desk: SourceDesk, place: Place, after_s: float
    ) -> None:
        if after_s:
            await asyncio.sleep(after_s)
        desk.place = place
        self._app.repaint()
        try:
            text = await services.read_source_file(desk.host, place.file)
            desk.codes[place.file] = await asyncio.to_thread(read_code, place.file, text)
        except SpecctlError as error:
            desk.errors[place.file] = error
        screen = self._app.front
        if isinstance(screen, SourceScreen) and screen.desk is desk:
            screen.arrived(place)

    def find(self, desk: SourceDesk, pattern: str) -> None:
        """Search every file of the tree."""
        services = self._services()
        if services is not None:
            desk.hits, desk.finding = None, pattern
            self._work(Later(self._find, services, desk, pattern), f"find {desk.host}")

    async def _find(self, services: Services, desk: SourceDesk, pattern: str) -> None:
        try:
            desk.hits = await services.find_in_source(desk.host, pattern)
        except SpecctlError as error:
            self._app.tell(error.message, error.hint, severity="error")
        finally:
            desk.finding = ""
        screen = self._app.front
        if isinstance(screen, SourceScreen) and screen.desk is desk:
            screen.found()

    def compare_sources(self, desk: SourceDesk) -> None:
        """Choose a host, and hold its build against this one."""
        others = [self._host_choice(name) for name in self._app.scene.hosts if name != desk.host]

        def chosen(other: str | None) -> None:
            if other is not None:
                self._open_source_difference(desk, self.desk(other))

        title = f"Hold the build of {desk.host} against"
        dialog = ChoiceDialog(title, "shows what differs", others, host=desk.host)
        self._app.push_screen(dialog, chosen)

    def _open_source_difference(self, desk: SourceDesk, other: SourceDesk) -> None:
        services = self._services()
        if services is None:
            return

        async def compare() -> Compared:
            for one in (desk, other):
                if one.tree is None:
                    one.take(await services.read_source(one.host))
            if desk.tree is None or other.tree is None:
                raise SpecctlError("A build could not be read.", hint="r reads it again.")
            return compare_trees(desk.tree, other.tree, (self._side(desk), self._side(other)))

        async def texts(row: Differing | None) -> Texts | None:
            if row is None or not row.file:
                return "", "", ""
            sides = [
                await services.read_source_file(one.host, row.file)
                if one.tree is not None and row.file in one.tree.files
                else ""
                for one in (desk, other)
            ]
            return row.file, sides[0], sides[1]

        crumbs = ["Fleet", desk.host, f"against {other.host}"]
        self._app.push_screen(DifferenceScreen("Builds", crumbs, desk.host, compare, texts))

    def _side(self, desk: SourceDesk) -> str:
        """A build by its host and version, and that the host is a practice one."""
        badge = simulated(self._app.scene, desk.host)
        return " ".join([desk.name, *(text for text, _ in badge)])

    def _host_choice(self, name: str) -> Choice:
        """A host, and how it stands."""
        scene = self._app.scene
        state = scene.state.host(name)
        server = worst(state)
        note: Line = [(text + " ", token) for text, token in simulated(scene, name)]
        if server is not None:
            standing = server_standing(server)
            words = server.profile or server.model or ""
            note += [standing.glyph, (f" {standing.word} ", "text"), (words, "dim")]
        off = "" if state.link is Link.UP else f"{state.link.value}: {state.link_words}".strip(": ")
        return Choice(name, note, off)

    # ---------------------------------------------------------------- one host

    def do_topology_open(self, target: Target | None = None) -> None:
        """How the GPUs of the host reach each other."""
        target, services = target or self._app.target(), self._services()
        if services is not None and target.host is not None:
            host = target.host
            self._app.push_screen(TopologyDialog(host, lambda: services.read_topology(host)))

    def do_drift_show(self, target: Target | None = None) -> None:
        """How the server differs from its profile, and why."""
        target, services = target or self._app.target(), self._services()
        if services is None or target.host is None or target.server is None:
            return
        host, server = target.host, target.server.name
        self._app.push_screen(DriftDialog(host, server, lambda: services.read_drift(host, server)))
