"""The log of a server: followed, searched, read back, saved, explained."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.state import Link
from specctl.facts.diagnosis import first_cause
from specctl.tui.actions import Target
from specctl.tui.arrange import Places, zoomed
from specctl.tui.asking import AskingScreen, Question
from specctl.tui.later import Later
from specctl.tui.panels.log import LogTextPanel
from specctl.tui.render.chrome import marked
from specctl.tui.render.log_text import LogStanding
from specctl.tui.render.standing import worst
from specctl.tui.screen import bindings

if TYPE_CHECKING:
    from specctl.domain.server import Server
    from specctl.services.log_paging import LogPart
    from specctl.tui.panel import Panel
    from specctl.tui.render.lines import Line

PARTS_SEARCHED = 16
"""Parts of the log that are read to find the first cause of a failure: 4 MiB."""

AGAIN_S = 1.0
"""A log that cannot be followed on a host that answers is tried again so often."""


class LogScreen(AskingScreen):
    """One log, on all of the screen."""

    where = "log"
    AUTO_FOCUS = "#log-text"
    BINDINGS = bindings("log")

    def __init__(self, host: str, server: str | None = None) -> None:
        super().__init__()
        self.host = host
        self._chosen = server
        self.back = 0
        """Launches before the present one."""

        self.log_panel = LogTextPanel()
        self.part: LogPart | None = None
        """What was read last at the end: where it is gone on from."""

        self._start: LogPart | None = None
        """What was read first of all: what is before it comes next."""

        self._is_reading_earlier = False
        self._lost_link = False

    def panels(self) -> list[Panel]:
        """The one."""
        return [self.log_panel]

    def places(self, cells: int, rows: int) -> Places:
        """Everything between header and footer."""
        return zoomed("log-text", cells, rows)

    @property
    def server(self) -> Server | None:
        """The server whose log it is, while it is known; else the one that needs eyes first."""
        state = self.specctl.scene.state.host(self.host)
        return state.server(self._chosen) if self._chosen else worst(state)

    def crumbs(self) -> list[str]:
        """From the fleet over the host; which launch, where it is not the present one."""
        tail = f"Log, launch {-self.back}" if self.back else "Log"
        several = len(self.specctl.scene.state.host(self.host).servers or ()) > 1
        return ["Fleet", self.host, *([self._chosen] if several and self._chosen else []), tail]

    def target(self) -> Target:
        """The host and its server."""
        scene = self.specctl.scene
        state = scene.state.host(self.host)
        return Target(self.host, state, self.server, scene.is_read_only(self.host))

    # ---------------------------------------------------------------- reading

    def on_mount(self) -> None:
        """Read the end, and follow."""
        self.begin()

    def begin(self) -> None:
        """Read the log from its end on, forgetting what was read."""
        self.log_panel.reel = type(self.log_panel.reel)()
        self.log_panel.view = replace(self.log_panel.view, bottom=None, chosen=None, left=0)
        self.part = self._start = None
        self._is_reading_earlier = self._lost_link = False
        title = f"Log of {self.host}"
        self.log_panel.standing = LogStanding(title, is_reading=True)
        self.run_worker(Later(self._read), group="monitor", exclusive=True)

    def parked(self) -> None:
        """Nobody looks at it: what comes meanwhile is read later."""
        if self.specctl.scene.replay is None and self.part is not None:
            self.workers.cancel_group(self, "monitor")

    def brought_back(self) -> None:
        """Go on from where it was read to."""
        if self.specctl.scene.replay is None and self.part is not None:
            self.run_worker(Later(self._read), group="monitor", exclusive=True)

    async def _read(self, after_s: float = 0.0) -> None:
        """The end, then whatever comes; a lost link ends it until the host is back."""
        await asyncio.sleep(after_s)
        services = self.specctl.services
        if services is None:
            return
        try:
            if self.part is None:
                self._took_end(await services.log_end(self.host, self._server_name(), self.back))
            async for part in services.follow_log(self.host, self._present()):
                self._took(part)
        except SpecctlError as error:
            self._failed(error)
        self.specctl.repaint()

    def _present(self) -> LogPart:
        assert self.part is not None  # noqa: S101  set by the line before its only call
        return self.part

    def _server_name(self) -> str | None:
        server = self.server
        self._chosen = server.name if server is not None else self._chosen
        return self._chosen

    def _took_end(self, part: LogPart) -> None:
        self.part = self._start = part
        self.log_panel.reel.append(part.lines)
        note: Line = [(f"launch {part.launch}", "dim")] if part.launch else []
        self._stand(
            is_reading=False, path=part.path, has_earlier=part.start > 0, is_over=part.is_over,
            note=note, title="Log", error=None, lost="",
        )  # fmt: skip

    def _took(self, part: LogPart) -> None:
        panel = self.log_panel
        if part.begins_anew:
            terms = panel.reel.found.terms if panel.reel.found else ""
            panel.reel = type(panel.reel)()
            panel.reel.search(terms)
            panel.view = replace(panel.view, bottom=None, chosen=None)
            self._start = part
            self._stand(has_earlier=False)
        self.part = part
        panel.reel.append(part.lines, self.specctl.scene.clock_s)
        if panel.standing.lost:
            self._stand(lost="")
        if part.lines or part.begins_anew:
            self.specctl.paint_soon()

    def _failed(self, error: SpecctlError) -> None:
        self._lost_link = self.part is not None
        if self.part is None:
            self._stand(is_reading=False, error=error)
        else:
            self._stand(is_reading=False, lost=error.message)

    def _stand(self, **values: object) -> None:
        self.log_panel.standing = replace(self.log_panel.standing, **values)  # type: ignore[arg-type]

    def repaint(self) -> None:
        """A log that was lost with its host goes on when that is back."""
        link = self.specctl.scene.state.host(self.host).link
        if self._lost_link and link is Link.UP:
            self._lost_link = False
            self.run_worker(Later(self._read, AGAIN_S), group="monitor", exclusive=True)
        super().repaint()
        if self.log_panel.wants_earlier:
            self.log_panel.wants_earlier = False
            self.read_earlier()

    def read_earlier(self) -> None:
        """Read the part before what was read."""
        standing = self.log_panel.standing
        if standing.has_earlier and not (self._is_reading_earlier or self.log_panel.reel.is_full):
            self._is_reading_earlier = True
            self.run_worker(Later(self._earlier), group="earlier log")

    async def _earlier(self) -> bool:
        """Whether there was anything."""
        services, start = self.specctl.services, self._start
        if services is None or start is None or start.start <= 0:
            return False
        try:
            part = await services.log_before(self.host, start)
        except SpecctlError as error:
            self.specctl.tell(error.message, error.hint, severity="error")
            return False
        finally:
            self._is_reading_earlier = False
        if self._start is not start:
            return False
        self._start = part
        before = self.log_panel.reel.first
        taken = self.log_panel.reel.prepend(part.lines)
        self._stand(has_earlier=part.start > 0 or taken < len(part.lines))
        self.log_panel.prepended(before)
        self.repaint()
        return True

    # ---------------------------------------------------------------- keys

    def do_live_pause(self) -> None:
        """Stand still while lines come, or go to the end and follow."""
        self.log_panel.follow(follows=not self.log_panel.follows)
        self.repaint()

    def do_log_wrap(self) -> None:
        """Long lines on several rows, or cut."""
        view = self.log_panel.view
        self.log_panel.view = replace(view, wraps=not view.wraps, left=0)
        if view.chosen is not None and view.bottom is not None:
            self.log_panel.show(view.chosen)
        self.repaint()

    def do_log_times(self) -> None:
        """The log's own times, those of arrival, or none."""
        view = self.log_panel.view
        self.log_panel.view = replace(view, times=view.times.next)
        self.repaint()

    def do_log_previous_run(self) -> None:
        """The log of the launch before; of the first one back to the present."""
        self.back += 1
        if self.log_panel.standing.error is not None:
            self.back = 0
        self.begin()
        self.repaint()

    def do_log_first_cause(self) -> None:
        """Go to the line that says why it failed, reading back as far as needed."""
        self.run_worker(Later(self._find_cause), group="first cause", exclusive=True)

    async def _find_cause(self) -> None:
        server, reel = self.server, self.log_panel.reel
        status = server.evidence.exit_status if server is not None and not self.back else None
        version = server.version if server is not None else None
        for _ in range(PARTS_SEARCHED):
            cause = first_cause(list(reel.texts()), exit_status=status, version=version)
            if cause is not None and cause.line_number:
                self._stand(cause=(cause.words, cause.next_step))
                self.log_panel.show(reel.first + cause.line_number - 1)
                self.repaint()
                return
            if not self.log_panel.standing.has_earlier or not await self._earlier():
                break
        words = f"{len(reel):,} lines were looked at, from the last launch in them on."
        self.specctl.tell("Nothing in it explains a failure", words)

    def do_screen_save(self) -> None:
        """Ask for a file, and write all of the log into it."""
        if self.part is None or self.specctl.is_web:
            self.specctl.tell("Save is off", "There is nothing to save, or nowhere to save it to.")
            return
        name = f"{self.host}-{self._chosen or 'log'}.log".replace("/", "-")
        self.ask_file(name)

    def ask_file(self, name: str) -> None:
        """Ask where to; what is there already is never written over."""

        def answered(file: str | None) -> None:
            if file:
                self.run_worker(Later(self._save, Path(file).expanduser()), group="save log")

        self.ask(Question("save all of it to ", lambda _: None, answered, "writes it"), name)

    async def _save(self, file: Path) -> None:
        services = self.specctl.services
        if services is None or self.part is None:
            return
        first = marked(self.specctl.scene, self.host, "")
        try:
            words = await services.save_log(self.host, self.part, file, first)
        except SpecctlError as error:
            self.specctl.tell("Not saved", f"{error.message}. {error.hint}", severity="warning")
        else:
            self.specctl.tell("Saved", words)

    def do_filter_open(self) -> None:
        """Search: every match is marked and counted."""
        panel = self.log_panel
        before = panel.view

        def edited(terms: str) -> None:
            panel.reel.search(terms)
            self._to_hit(-1, quiet=True)

        def answered(terms: str | None) -> None:
            if terms is None:
                panel.reel.search("")
                panel.view = before
            panel.focus()

        words = "finds it"
        question = Question("/", edited, answered, words, lambda: f"{len(panel.reel.hits):,} lines")
        self.ask(question, panel.reel.found.terms if panel.reel.found else "")

    def do_match_next(self) -> None:
        """The next line that matches."""
        self._to_hit(1)

    def do_match_previous(self) -> None:
        """The matching line before."""
        self._to_hit(-1)

    def _to_hit(self, by: int, *, quiet: bool = False) -> None:
        panel = self.log_panel
        chosen = panel.view.chosen
        if chosen is None or quiet:
            bottom = panel.view.bottom
            chosen = panel.reel.last + 1 if bottom is None else bottom + 1
        number = panel.reel.next_hit(chosen, by)
        if number is not None:
            panel.show(number)
        elif not quiet:
            terms = panel.reel.found.terms if panel.reel.found else ""
            words = f"{terms} is not in what was read." if terms else "/ searches the log."
            self.specctl.tell("No match", words)
        self.repaint()

    def do_view_left(self) -> None:
        """Look further left."""
        self.log_panel.slide(-1)
        self.repaint()

    def do_view_right(self) -> None:
        """Look further right."""
        self.log_panel.slide(1)
        self.repaint()

    def do_copy_selection(self) -> None:
        """Copy the chosen line; without one what is in sight."""
        chosen, reel = self.log_panel.view.chosen, self.log_panel.reel
        if chosen is not None and reel.first <= chosen <= reel.last:
            self.specctl.copy(reel.entry(chosen).text, "the line")
        else:
            super().do_copy_selection()

    def do_sibling_next(self) -> None:
        """The log of the next host."""
        self._sibling(1)

    def do_sibling_previous(self) -> None:
        """The log of the host before."""
        self._sibling(-1)

    def _sibling(self, step: int) -> None:
        names = self.specctl.host_order()
        if names:
            at = names.index(self.host) if self.host in names else 0
            self.show(names[(at + step) % len(names)])

    def show(self, host: str, server: str | None = None) -> None:
        """Turn to another host."""
        self.host, self._chosen, self.back = host, server, 0
        self.begin()
        self.repaint()

    def do_go_back(self) -> None:
        """End the search, then go back to the end, then leave; one a press."""
        panel = self.log_panel
        if panel.standing.cause[0]:
            self._stand(cause=("", ""))
        elif panel.reel.found is not None:
            panel.reel.search("")
            panel.view = replace(panel.view, chosen=None)
        else:
            super().do_go_back()
            return
        self.repaint()
