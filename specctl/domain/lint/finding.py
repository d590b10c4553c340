"""What is found in a profile: how bad, at which key, why, what to do, and who says so."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.source import Place


class Severity(StrEnum):
    """How much of what a profile asks for will not come about."""

    ERROR = "error"
    """The server would not start, or would end at its first request."""

    REWRITE = "rewrite"
    """It starts with another value than the one written."""

    WARNING = "warning"
    """It starts, and something is probably not as meant."""

    HINT = "hint"
    """Nothing is wrong; good to know."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found in one profile."""

    severity: Severity
    key: str
    """Of the profile, dotted: `speculation.num-steps`; empty for the profile as a whole."""

    message: str
    """What happens: `the server will change num-draft-tokens from 8 to 4`."""

    fix: str = ""
    rule: str = ""
    """Its name, e.g. `eagle-chain-draft-tokens`."""

    versions: str = ""
    """Of SGLang, that do this: `0.4.6.post5 and later`."""

    place: Place | None = None
    """The line of the host's source that says so; None where no source was at hand."""

    source_line: str = ""
    """Its text, trimmed."""

    file: str = ""
    """The file of the workspace that sets the value, as the user would type it."""

    line: int | None = None
    """In that file, counted from 1; None when the profile as a whole is meant."""

    profile: str = ""
    """The profile it was found in; its value may be set in the file of another."""

    nearest: str = ""
    """The known key or value closest to the one written."""

    def __str__(self) -> str:
        """`FILE:LINE  KEY: MESSAGE`, each part where known."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        words = f"{self.key}: {self.message}" if self.key else self.message
        return f"{where}  {words}" if where else words


def by_line(findings: Iterable[Finding], file: str) -> Mapping[int, tuple[Finding, ...]]:
    """The findings of one file by the line they are about; 0 for the file as a whole."""
    found: dict[int, tuple[Finding, ...]] = {}
    for finding in findings:
        if finding.file == file:
            line = finding.line or 0
            found[line] = (*found.get(line, ()), finding)
    return found


ORDER = tuple(Severity)
"""The worst first."""


def worst(findings: Iterable[Finding]) -> Severity | None:
    """The severity that counts; None without a finding."""
    return min((finding.severity for finding in findings), key=ORDER.index, default=None)
