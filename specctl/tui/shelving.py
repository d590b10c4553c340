"""Profiles being looked at: checked, edited, started, held against each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.app import SuspendNotSupported

from specctl.adapters.editing import edit
from specctl.domain.errors import SpecctlError
from specctl.tui.action import LIFTS
from specctl.tui.asking import Question as Asked
from specctl.tui.browsing import Browsing
from specctl.tui.differing import (
    Compared,
    changed_lines,
    compare_recipes,
    compare_running,
)
from specctl.tui.enrolling import launch_text
from specctl.tui.fixing import fixed_text
from specctl.tui.guarding import explained
from specctl.tui.later import Later
from specctl.tui.render.confirm import Question
from specctl.tui.render.difference import changed_line
from specctl.tui.render.standing import worst
from specctl.tui.screens.choice import Choice, ChoiceDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.screens.difference import DifferenceScreen
from specctl.tui.screens.profiles import ProfilesScreen
from specctl.tui.shelf import Shelf

if TYPE_CHECKING:
    from specctl.domain.lint.finding import Finding
    from specctl.tui.application import SpecctlApp
    from specctl.tui.differing import Differing
    from specctl.tui.reading import ProfileSheet
    from specctl.tui.screens.difference import Texts
    from specctl.tui.services import Services

RUNNING = "what runs on "
FIX_CELLS = 92


class Shelving(Browsing):
    """Reads and checks profiles in workers of the app, so that leaving a screen loses nothing."""

    def __init__(self, app: SpecctlApp) -> None:
        super().__init__(app)
        self.shelf = Shelf()

    def do_profiles_open(self) -> None:
        """Every profile, checked against the host that is acted on."""
        self.open_profiles(self._app.target().host)

    def open_profiles(self, host: str | None) -> None:
        """Every profile, checked against the build of `host`."""
        self.shelf.turn(host)
        if isinstance(self._app.front, ProfilesScreen):
            self.read_profiles(self.shelf)
        else:
            self._app.go_to(ProfilesScreen(self.shelf))

    def read_profiles(self, shelf: Shelf, *, afresh: bool = False) -> None:
        """Read every file as it is now, then check each: the chosen one first."""
        services = self._services()
        if services is not None:
            shelf.is_reading = True
            if afresh:
                shelf.errors.clear()
            self._work(Later(self._profiles, services, shelf), "profiles")

    async def _profiles(self, services: Services, shelf: Shelf) -> None:
        try:
            shelf.take(await services.list_profiles())
        except SpecctlError as error:
            shelf.error = error
            if shelf.profiles.entries:  # they stand, and hide it
                self._app.tell(error.message, error.hint, severity="error")
        finally:
            shelf.is_reading = False
        self._shelf_changed()
        chosen = shelf.chosen.name if shelf.chosen else ""
        names = [entry.name for entry in shelf.profiles.entries]
        for name in sorted(names, key=lambda n: n != chosen):
            await self._sheet(services, shelf, name)

    def read_profile(self, shelf: Shelf) -> None:
        """The chosen profile, unless it is known."""
        services, entry = self._services(), shelf.chosen
        if services is not None and entry is not None and shelf.sheet is None:
            self._work(Later(self._sheet, services, shelf, entry.name), "profile")

    async def _sheet(self, services: Services, shelf: Shelf, name: str) -> None:
        host = shelf.host
        shelf.checking.add(name)
        try:
            sheet = await services.read_profile(name, host)
        except SpecctlError as error:
            shelf.errors[name] = error
        else:
            if host == shelf.host:
                shelf.put(sheet)
        finally:
            shelf.checking.discard(name)
        self._shelf_changed()

    def _shelf_changed(self) -> None:
        screen = self._app.front
        if isinstance(screen, ProfilesScreen):
            screen.changed()

    def new_profile(self, shelf: Shelf, name: str) -> None:
        """A profile that extends the chosen one, which is chosen then."""
        services, entry = self._services(), shelf.chosen
        if services is not None and entry is not None:
            self._work(Later(self._new, services, shelf, name, entry.name), "new profile")

    async def _new(self, services: Services, shelf: Shelf, name: str, source: str) -> None:
        try:
            file = await services.new_profile(name, source)
        except SpecctlError as error:
            self._app.tell(error.message, error.hint, severity="error")
            return
        shelf.wanted = name
        self.read_profiles(shelf, afresh=True)
        self._app.tell(f"Wrote {file}", f"It extends {source}. e edits it.")

    def ask_name(self, screen: ProfilesScreen, answer: str) -> None:
        """What the imported profile is to be called, then write it."""
        try:
            text, name = launch_text(answer)
        except OSError as error:
            self._app.tell("Not imported", f"{answer}: {error.strerror}", severity="warning")
            return

        def answered(chosen: str | None) -> None:
            services = self._services()
            if chosen and services is not None:
                self._work(
                    Later(self._import, services, screen.shelf, chosen.strip(), text), "import"
                )

        screen.ask(Asked("call the profile ", lambda _: None, answered, "writes it"), name)

    async def _import(self, services: Services, shelf: Shelf, name: str, text: str) -> None:
        try:
            made = await services.import_profile(name, text)
        except SpecctlError as error:
            self._app.tell("Not imported", f"{error.message} {error.hint}", severity="error")
            return
        secrets = ", ".join(made.secrets)
        words = f"Secrets were left out: {secrets}. " if secrets else ""
        self._app.tell(f"Wrote {made.file}", f"{words}{' '.join(made.remarks)}".strip())
        shelf.wanted = name
        self.read_profiles(shelf, afresh=True)

    def fix_profile(self, shelf: Shelf, finding: Finding) -> None:
        """Show what applying a finding's fix would change, and write it when it is agreed to."""
        services, sheet = self._services(), shelf.sheet
        after = fixed_text(sheet.text, finding) if sheet and finding.file == sheet.file else None
        if services is None or sheet is None:
            return
        if after is None:
            words = finding.fix or "It proposes no other spelling of a key of this file."
            self._app.tell("Nothing to apply", f"{words} e edits it.", severity="warning")
            return
        body = [changed_line(line, None, FIX_CELLS) for line in changed_lines(sheet.text, after)]

        async def read() -> Question:
            return Question(body, "Write it", is_safe=True)

        async def write() -> None:
            try:
                file = await services.rewrite_profile(sheet.name, sheet.text, after)
            except SpecctlError as error:
                self._app.tell(error.message, error.hint, severity="error")
            else:
                self._app.tell(f"Wrote {file}")
            self.read_profiles(shelf, afresh=True)

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001  Textual calls it so
            if confirmed:
                self._work(Later(write), "fix")

        title = f"Fix {sheet.file}:{finding.line}"
        self._app.push_screen(ConfirmDialog(title, read, host=shelf.host or ""), answered)

    def edit_profile(self, shelf: Shelf) -> None:
        """The chosen profile in the user's editor."""
        services, entry = self._services(), shelf.chosen
        if services is not None and entry is not None:
            self._work(Later(self._edit, services, shelf, entry.name), "editor")

    async def _edit(self, services: Services, shelf: Shelf, name: str) -> None:
        try:
            with self._app.suspend(), self._app.batch_update():
                status, error = await _edited(services, name)
        except SuspendNotSupported:
            self._app.tell("Edit is off", "This terminal cannot be lent.", severity="warning")
            return
        if error is not None:
            self._app.tell(error.message, error.hint, severity="error")
            return
        if status:
            self._app.tell(
                "The editor failed", f"It ended with status {status}.", severity="warning"
            )
        self.read_profiles(shelf, afresh=True)

    def start_somewhere(self, shelf: Shelf) -> None:
        """Choose a host, then show what starting the chosen profile there would do."""
        entry = shelf.chosen
        if entry is None:
            return
        names = sorted(self._app.scene.hosts, key=lambda name: name != shelf.host)

        def chosen(host: str | None) -> None:
            if host is not None:
                self.plan_start(host, entry.name)

        choices = [self._start_choice(name) for name in names]
        self._app.push_screen(
            ChoiceDialog(f"Start {entry.name} on", "shows the plan", choices), chosen
        )

    def _start_choice(self, name: str) -> Choice:
        choice = self._host_choice(name)
        if not choice.off and self._app.scene.is_read_only(name):
            words = explained(f"read-only. {LIFTS}", self._app.settings)
            return Choice(name, choice.note, words)
        return choice

    def plan_start(self, host: str, profile: str) -> None:
        """Show what starting `profile` would do."""
        raise NotImplementedError

    def compare_profiles(self, shelf: Shelf) -> None:
        """Choose another profile, or a host that runs something, and show what differs."""
        entry = shelf.chosen
        if entry is None:
            return
        scene = self._app.scene
        running = [
            self._running_choice(host)
            for host in scene.hosts
            if any(server.argv for server in scene.state.host(host).servers or ())
        ]
        others = [
            Choice(e.name, [(f"{e.algorithm or 'no draft'}  ", "text"), (e.model, "dim")],
                   "" if e.is_usable else "cannot be used as it is")
            for e in shelf.profiles.entries if e.name != entry.name
        ]  # fmt: skip

        def chosen(other: str | None) -> None:
            if other is not None:
                self._open_profile_difference(shelf, entry.name, other)

        title = f"Hold {entry.name} against"
        self._app.push_screen(
            ChoiceDialog(title, "shows what differs", [*running, *others]), chosen
        )

    def _running_choice(self, host: str) -> Choice:
        choice = self._host_choice(host)
        return Choice(RUNNING + host, choice.note)

    def _open_profile_difference(self, shelf: Shelf, name: str, other: str) -> None:
        services = self._services()
        if services is None:
            return
        is_running = other.startswith(RUNNING)
        host = other.removeprefix(RUNNING) if is_running else shelf.host
        sheets: list[ProfileSheet] = []

        async def compare() -> Compared:
            own = await services.read_profile(name, host)
            if own.recipe is None:
                raise SpecctlError(f"{name} cannot be used as it is.", hint="The text says why.")
            sheets.append(own)
            if is_running:
                return compare_running(own.recipe, *self._argv(host or ""))
            theirs = await services.read_profile(other, host)
            sheets.append(theirs)
            if theirs.recipe is None:
                raise SpecctlError(f"{other} cannot be used as it is.", hint="The text says why.")
            return compare_recipes(own.recipe, theirs.recipe)

        async def texts(row: Differing | None) -> Texts | None:
            del row
            if len(sheets) > 1:
                return f"{name}.toml → {other}.toml", sheets[0].text, sheets[1].text
            return None

        title = "Profile and process" if is_running else "Profiles"
        crumbs = ["Fleet", "Profiles", f"{name} against {other}"]
        self._app.push_screen(DifferenceScreen(title, crumbs, host, compare, texts))

    def _argv(self, host: str) -> tuple[tuple[str, ...], str]:
        """The command line of the server that is looked at on a host."""
        server = worst(self._app.scene.state.host(host))
        if server is None:
            raise SpecctlError(f"No server on {host} any more.", hint="esc, then r.")
        return tuple(server.argv), f"{host}/{server.name}"


async def _edited(services: Services, name: str) -> tuple[int, SpecctlError | None]:
    """The editor's exit status; an error is no exception, after which Textual lends on for ever."""
    try:
        return await edit(services.profile_path(name), os.environ), None
    except SpecctlError as error:
        return 0, error
