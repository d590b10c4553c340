"""Help and command line: opened over a screen, and what a typed command does."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, cast

from specctl.domain import figures
from specctl.domain.errors import SpecctlError
from specctl.tui.actions import BY_ID, Target, refusal
from specctl.tui.commands import Known, named
from specctl.tui.guarding import explained
from specctl.tui.render.fleet_order import labels_of
from specctl.tui.render.standing import server_standing, worst
from specctl.tui.screen import PanelScreen
from specctl.tui.screens.help import HelpDialog
from specctl.tui.screens.prompts import CommandLine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specctl.tui.action import Action
    from specctl.tui.application import SpecctlApp
    from specctl.tui.commands import Parsed
    from specctl.tui.screens.fleet import FleetScreen


class Kept(Protocol):
    """Lines typed before; its failures are `SpecctlError`."""

    def read(self) -> list[str]:
        """The oldest first."""

    def add(self, line: str) -> None:
        """One more."""


class KeptHere:
    """Kept for this session only."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def read(self) -> list[str]:
        """The oldest first."""
        return list(self._lines)

    def add(self, line: str) -> None:
        """One more."""
        self._lines.append(line)


class Commanding:
    """The words a user types, turned into actions."""

    def __init__(self, app: SpecctlApp) -> None:
        self._app = app
        self.kept: Kept = KeptHere()

    def open_help(self) -> None:
        """Help for the screen in front."""
        screen = self._app.front
        where = screen.where if isinstance(screen, PanelScreen) else "fleet"
        self._app.push_screen(HelpDialog(where, self._app.target(), self._why))

    def _why(self, action: Action, target: Target) -> str:
        """Why an action is off here, with what lifts that."""
        words = self._app.off(action) or refusal(action, target)
        return explained(words, self._app.settings)

    def open_line(self, text: str = "") -> None:
        """The command line, with something typed already."""
        known, app = self.known(), self._app
        is_listed = app.services is None

        def known_for(typed: str) -> Known:
            nonlocal is_listed
            words = typed.split()
            command = named(words[0]) if words else None
            if command is None or "[RUN]" not in command.arguments:
                return known
            if not is_listed:
                is_listed = True
                app.work.list_trials()
            return self._with_runs(known)

        def answered(parsed: Parsed | None) -> None:
            if parsed is not None:
                self._keep(line.last)
                self.run(parsed)

        line = CommandLine(known_for, self._typed_before(), text)
        app.push_screen(line, answered)

    def _typed_before(self) -> list[str]:
        try:
            return self.kept.read()
        except SpecctlError as error:
            return self._keep_here(error, [])

    def _keep(self, line: str) -> None:
        try:
            self.kept.add(line)
        except SpecctlError as error:
            self._keep_here(error, [line])

    def _keep_here(self, error: SpecctlError, lines: list[str]) -> list[str]:
        """Say once why nothing is kept for the next session, and keep it for this one."""
        self._app.tell(error.message, error.hint, severity="warning")
        self.kept = KeptHere()
        for line in lines:
            self.kept.add(line)
        return lines

    def _with_runs(self, known: Known) -> Known:
        """With the runs of the ledger as far as they were read."""
        entries, now_s = self._app.work.trials.entries, self._app.scene.clock_s
        notes = {
            one.id: f"{one.kind.value} {one.outcome or 'open'} on {one.host}, "
            f"{figures.age(now_s - one.began_s)}"
            for one in entries
        }
        return replace(
            known, runs=tuple(one.id for one in entries), notes={**(known.notes or {}), **notes}
        )

    def known(self) -> Known:
        """Names that can be typed now."""
        scene = self._app.scene
        notes: dict[str, str] = {}
        servers: list[str] = []
        for host in scene.hosts:
            found = scene.state.host(host).servers or ()
            server = worst(scene.state.host(host))
            if server is not None:
                standing = server_standing(server)
                notes[host] = f"{standing.word} {server.profile or standing.rest}".strip()
                servers.append(host)
            servers += [f"{host}/{server.name}" for server in found] if len(found) > 1 else []
        services = self._app.services
        profiles = services.profiles(self._app.target().host) if services else ()
        notes |= {
            c.name: "  ".join(filter(None, (c.algorithm or "no draft", c.note))) for c in profiles
        }
        labels = ("none", *(label for label in labels_of(scene) if label))
        return Known(scene.hosts, tuple(servers), tuple(c.name for c in profiles), notes, labels)

    def run(self, parsed: Parsed) -> None:
        """Do what was typed, to what was named."""
        action, values = BY_ID[parsed.command.action], parsed.values
        target = self._named(values)
        reason = self._app.off(action) or refusal(action, target)
        if reason:
            self._app.refuse(action, reason)
            return
        self._doing(action.id, values, target)()

    def _named(self, values: Mapping[str, str]) -> Target:
        """What the words name; what they leave out is what is selected."""
        host, _, server = values.get("SERVER", values.get("HOST", "")).partition("/")
        if not host:
            return self._app.target()
        scene = self._app.scene
        state = scene.state.host(host)
        chosen = state.server(server) if server else worst(state)
        return Target(host, state, chosen, scene.is_read_only(host))

    def _doing(self, name: str, values: Mapping[str, str], target: Target) -> Callable[[], None]:
        """What a command does: to what it names, or as its key does."""
        app, host = self._app, target.host or ""
        own: dict[str, Callable[[], None]] = {
            "server.start": lambda: app.work.plan_start(host, values["PROFILE"]),
            "server.stop": lambda: app.work.do_server_stop(target),
            "server.adopt": lambda: app.work.do_server_adopt(target),
            "trial.start": lambda: app.work.plan_trial(host, values["PROFILE"]),
            "probe.start": lambda: app.work.do_probe_start(target),
            "facts.read": lambda: app.work.do_facts_read(target),
            "theme.choose": lambda: app.set_theme(values["THEME"]),
            "trials.open": lambda: self._open_run(values.get("RUN", "")),
            "live.span": lambda: app.do_live_span(values.get("SPAN")),
            "host.toggle_readonly": lambda: app.do_host_toggle_readonly(values["SWITCH"]),
            "filter.open": lambda: self._fleet().set_filter(values.get("TERMS", "")),
            "order.choose": lambda: self._order(values),
            "fleet.group": lambda: self._fleet().do_fleet_group(values.get("LABEL")),
            "mouse.toggle": lambda: app.switches.do_mouse_toggle(values.get("SWITCH", "")),
            "bell.toggle": lambda: app.switches.do_bell_toggle(values.get("SWITCH", "")),
            "host.open": lambda: app.open_host(host),
            "log.open": lambda: app.open_log(host, target.server.name if target.server else None),
            "source.open": lambda: app.work.open_source(host),
            "profiles.open": lambda: app.work.open_profiles(target.host),
            "drift.show": lambda: app.work.do_drift_show(target),
            "host.trust": lambda: app.work.tending.do_host_trust(target),
            "host.forward": lambda: app.work.tending.do_host_forward(target),
            "server.flush": lambda: app.work.tending.do_server_flush(target),
            "server.abort": lambda: app.work.tending.do_server_abort(target),
        }
        return own.get(name, lambda: app.act(name))

    def _open_run(self, run: str) -> None:
        """All runs, or the one that was named as the list opens it."""
        work = self._app.work
        work.do_trials_open()
        for entry in work.trials.entries:
            if entry.id == run:
                work.open_entry(entry)

    def _order(self, values: Mapping[str, str]) -> None:
        if "ORDER" in values:
            self._fleet().set_order(values["ORDER"], values.get("WAY", ""))
        else:
            self._app.act("order.choose")

    def _fleet(self) -> FleetScreen:
        self._app.do_fleet_open()
        return cast("FleetScreen", self._app.screen_stack[0])
