"""What the screens need to take in a new host, or a profile from a launch command."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.adapters.trust import OfferedKey
    from specctl.services.adding import Found


@dataclass(frozen=True, slots=True)
class Imported:
    """A profile that was made of a launch command."""

    file: str
    """As the user would type it."""

    remarks: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Names of those that stood in it; their values were not written."""


class EnrollingServices(Protocol):
    """New hosts and imported profiles; expected failures are `SpecctlError`."""

    def ssh_aliases(self) -> Mapping[str, str]:
        """The aliases of the user's ssh configuration that are no host yet, each with a note."""

    async def look_over(self, alias: str) -> Found:
        """Connect to what may become a host, and examine it."""

    async def offered_key_of(self, alias: str) -> OfferedKey:
        """The key that it, or the first hop to it that is not trusted, shows."""

    async def add_host(self, found: Found) -> str:
        """Write its file and watch it; returns the file as the user would type it."""

    async def import_profile(self, name: str, text: str) -> Imported:
        """Write a profile made of a launch command or script; nothing in it is run."""
