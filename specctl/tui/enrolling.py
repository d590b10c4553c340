"""Taking in a new host, or a profile from a launch command, from the screens."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.domain.doctor import Level
from specctl.domain.errors import HostKeyUnknownError, SpecctlError
from specctl.tui.later import Later
from specctl.tui.render.confirm import Question
from specctl.tui.render.lines import Line, wrap
from specctl.tui.screens.choice import Choice, NameDialog
from specctl.tui.screens.confirm import ConfirmDialog
from specctl.tui.tending import key_question

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from specctl.adapters.trust import OfferedKey
    from specctl.domain.doctor import Row
    from specctl.services.adding import Found
    from specctl.tui.application import SpecctlApp
    from specctl.tui.services import Services

GLYPHS = {Level.PASS: ("✓ ", "ok"), Level.WARN: ("▲ ", "warn"), Level.FAIL: ("✗ ", "bad")}
NAME_CELLS, WORDS_CELLS = 12, 76
TEXT_BYTES_MAX = 1 << 20
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


class Enrolling:
    """Asks first, shows what was found, then writes one file."""

    def __init__(self, app: SpecctlApp) -> None:
        self._app = app

    def do_host_add(self) -> None:
        """Choose an alias, look the machine over, and write its file when that is agreed to."""
        services = self._services("Add")
        if services is None:
            return
        aliases = services.ssh_aliases()
        choices = [Choice(name, [(note, "dim")]) for name, note in aliases.items()]

        def chosen(alias: str | None) -> None:
            if alias:
                self.look_over(services, alias)

        words = "looks it over"
        self._app.push_screen(NameDialog("Add a host: an alias of ssh", words, choices), chosen)

    def _services(self, what: str) -> Services | None:
        if self._app.read_only or self._app.is_web:
            self._app.tell(f"{what} is off", "This session is read-only.", severity="warning")
            return None
        if self._app.services is None:
            self._app.tell("Not yet", "The workspace is still being read.", severity="warning")
        return self._app.services

    def look_over(self, services: Services, alias: str) -> None:
        """What it has and lacks; of a machine whose key is new, the key first."""
        keys: list[OfferedKey] = []
        machines: list[Found] = []

        async def read() -> Question:
            try:
                machines.append(await services.look_over(alias))
            except HostKeyUnknownError:
                keys.append(await services.offered_key_of(alias))
                return key_question(keys[0])
            return found_question(machines[0].rows, is_usable=machines[0].is_usable)

        async def go_on() -> None:
            if keys:
                await services.trust(keys[0])
                self.look_over(services, alias)
            elif machines:
                await self._write(services, machines[0])

        def answered(confirmed: bool | None) -> None:  # noqa: FBT001  Textual calls it so
            if confirmed:
                work = Later(self._told, f"Add {alias}", Later(go_on))
                self._app.run_worker(work, group=f"add {alias}")

        self._app.push_screen(ConfirmDialog(f"Add {alias}", read, host=alias), answered)

    async def _told(self, title: str, work: Awaitable[None]) -> None:
        try:
            await work
        except SpecctlError as error:
            self._app.tell(title, f"{error.message} {error.hint}".strip(), severity="error")

    async def _write(self, services: Services, found: Found) -> None:
        file = await services.add_host(found)
        others = sum(not server.is_ours and bool(server.pids) for server in found.servers)
        noun = "server runs" if others == 1 else "servers run"
        words = f"{others} {noun} there; a adopts." if others else "It is watched from now on."
        self._app.tell(f"Wrote {file}", words)
        self._app.repaint()


def found_question(rows: Sequence[Row], *, is_usable: bool) -> Question:
    """Doctor's rows, each with what to do about it."""
    body: list[Line] = []
    for row in rows:
        lines = wrap(row.words, WORDS_CELLS) or [""]
        head: Line = [GLYPHS[row.level], (f"{row.name:<{NAME_CELLS}}", "dim")]
        blank = " " * (NAME_CELLS + 2)
        body.append([*head, (lines[0], "text")])
        body += [[(blank + text, "text")] for text in lines[1:]]
        body += [[(f"{blank}→ {text}", "accent")] for text in wrap(row.next_step, WORDS_CELLS - 2)]
    off = "" if is_usable else "It cannot be used yet; nothing was written."
    return Question(body, "Write its file", off=off, is_safe=True)


def launch_text(answer: str) -> tuple[str, str]:
    """The text of what was typed, a file or a command itself, and a name for the profile.

    Raises OSError for a file that cannot be read.
    """
    path = Path(answer).expanduser()
    if len(answer) < 1000 and "\n" not in answer and path.is_file():  # noqa: PLR2004  no file name
        with path.open("rb") as file:
            data = file.read(TEXT_BYTES_MAX)
        return data.decode("utf-8-sig", "replace"), _named(path.stem)
    # a paste of several lines became one: what continued a line is a blank now
    text = re.sub(r"\s*\\\s+", " ", answer)
    model = re.search(r"--model(?:-path)?[= ]+([^\s'\"]+)", text)
    return text, _named(model[1].rstrip("/").rpartition("/")[2].lower() if model else "imported")


def _named(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text).strip("-.") or "imported"
