"""What the source and the profiles screen ask for: values and the protocol that fetches them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from specctl.domain.lint.finding import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from specctl.adapters.recipe import Recipe
    from specctl.domain.drift import ServerDrift
    from specctl.domain.lint.finding import Finding, Severity
    from specctl.domain.source import Place, Tree
    from specctl.domain.topology import Topology


@dataclass(frozen=True, slots=True)
class Hit:
    """A line that a search found."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found, in the order of the files."""

    pattern: str
    found: tuple[Hit, ...] = ()
    note: str = ""
    """What of it is not here, e.g. that there is more."""


class Git(StrEnum):
    """How a file stands to its repository."""

    CLEAN = "clean"
    EDITED = "edited"
    NEW = "new"
    UNKNOWN = ""
    """No repository, or none that answers."""


@dataclass(frozen=True, slots=True)
class ProfileEntry:
    """A file of `profiles/`, usable or not."""

    name: str
    file: str
    """As the user would type it."""

    algorithm: str | None = None
    model: str = ""
    baseline: str | None = None
    git: Git = Git.UNKNOWN
    is_usable: bool = True


@dataclass(frozen=True, slots=True)
class Profiles:
    """All profiles, and the commit their repository is at."""

    entries: tuple[ProfileEntry, ...] = ()
    commit: str = ""
    """Short; empty without a repository."""


@dataclass(frozen=True, slots=True)
class ProfileSheet:
    """Everything one profile is, for one host or for none in particular."""

    name: str
    host: str | None
    file: str = ""
    text: str = ""
    """Of its file, as it is now."""

    findings: tuple[Finding, ...] = ()
    against: str = ""
    """The build it was checked against, e.g. `SGLang 0.5.23`; empty for the shape alone."""

    unchecked: str = ""
    """Why it was not checked against the host's build; empty when it was, or none was wanted."""

    recipe: Recipe | None = None
    """None when it cannot be used as it is."""


class ReadingServices(Protocol):
    """What is read of trees and profiles; expected failures are `SpecctlError`."""

    async def read_source(self, host: str, *, afresh: bool = False) -> Tree:
        """The tree that the host's interpreter would run; `afresh` looks again."""

    async def read_source_file(self, host: str, file: str) -> str:
        """The text of one file of that tree."""

    async def find_in_source(self, host: str, pattern: str) -> Hits:
        """The lines of that tree that a regular expression finds."""

    async def list_profiles(self) -> Profiles:
        """The profiles as their files are now."""

    async def read_profile(self, name: str, host: str | None) -> ProfileSheet:
        """One profile: its text, what is wrong with it, and what it comes to on a host."""

    def profile_path(self, name: str) -> Path:
        """The file of a profile."""

    async def rewrite_profile(self, name: str, before: str, after: str) -> str:
        """Write a profile's text; refused when its file is not as it was. Returns the file."""

    async def new_profile(self, name: str, source: str) -> str:
        """Write a profile that extends another; returns its file as the user would type it."""

    async def read_drift(self, host: str, server: str) -> ServerDrift:
        """How a running server differs from its profile."""

    async def read_topology(self, host: str) -> Topology:
        """How the GPUs of a host reach each other."""


def counted(findings: Iterable[Finding]) -> dict[Severity, int]:
    """How many findings there are of each severity, the worst first."""
    severities = [finding.severity for finding in findings]
    return {s: severities.count(s) for s in ORDER if s in severities}
