"""What the profiles screen has before it: all profiles, and what is known of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.tui.reading import ProfileEntry, Profiles, ProfileSheet
from specctl.tui.render.listing import holds
from specctl.tui.render.marks import TextRow, text_rows, worst_by_line
from specctl.tui.render.syntax import Code, read_code

if TYPE_CHECKING:
    from specctl.domain.errors import SpecctlError
    from specctl.domain.lint.finding import Severity


class Shelf:
    """Kept for as long as the app lives, so that coming back shows what was there."""

    def __init__(self) -> None:
        self.host: str | None = None
        """Whose build the profiles are checked against."""

        self.profiles = Profiles()
        self.error: SpecctlError | None = None
        self.is_reading = False
        self.sheets: dict[str, ProfileSheet] = {}
        self.errors: dict[str, SpecctlError] = {}
        self.checking: set[str] = set()
        """Profiles whose sheet is being made."""

        self.chosen: ProfileEntry | None = None
        self.wanted = ""
        """The profile to choose once it is listed; empty to stay on the chosen one."""

        self.code: Code | None = None
        self.rows: list[TextRow] = []
        self.worst: dict[int, Severity] = {}

    @property
    def sheet(self) -> ProfileSheet | None:
        """Of the chosen profile."""
        return self.sheets.get(self.chosen.name) if self.chosen else None

    def is_checking(self, name: str) -> bool:
        """Its sheet is being made anew."""
        return name in self.checking

    def turn(self, host: str | None) -> None:
        """Check against another host's build: what is known is of the one before."""
        if host != self.host:
            self.host = host
            self.sheets.clear()
            self._lay()

    def matching(self, terms: str) -> list[ProfileEntry]:
        """The profiles a filter keeps."""
        if not terms:
            return list(self.profiles.entries)
        return [
            e
            for e in self.profiles.entries
            if holds(f"{e.name} {e.algorithm or 'none'} {e.model} {e.git.value}", terms)
        ]

    def take(self, profiles: Profiles) -> None:
        """The files were listed; the cursor stays on its profile."""
        self.profiles, self.error = profiles, None
        name = self.wanted or (self.chosen.name if self.chosen else "")
        self.wanted = ""
        first = next(iter(profiles.entries), None)
        self.choose(next((e for e in profiles.entries if e.name == name), first))

    def choose(self, entry: ProfileEntry | None) -> None:
        """Turn to another profile."""
        self.chosen = entry
        self._lay()

    def put(self, sheet: ProfileSheet) -> None:
        """What is known of one profile is here."""
        self.sheets[sheet.name] = sheet
        self.errors.pop(sheet.name, None)
        if self.chosen is not None and sheet.name == self.chosen.name:
            self._lay()

    def _lay(self) -> None:
        sheet = self.sheet
        if sheet is None:
            self.code, self.rows, self.worst = None, [], {}
            return
        self.code = read_code(sheet.file or "profile.toml", sheet.text)
        self.rows = text_rows(len(self.code.lines), sheet.findings, sheet.file)
        self.worst = worst_by_line(self.rows)
