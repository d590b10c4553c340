"""What a check of the profile means for the plan of a start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.plan import Check, passed, refused, warned

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "profile"
_OVERRIDE = "--unchecked starts it all the same."
_SAID_BY_OTHERS = frozenset({"draft-config-unreadable"})
"""Rules whose finding a start looks for itself."""


@dataclass(frozen=True, slots=True)
class ProfileReading:
    """The profile, checked against the build of the host."""

    findings: tuple[Finding, ...]
    build: str
    """`SGLang 0.5.23`."""

    is_from_source: bool
    """The host's own source was asked; else the rules of the version were taken."""

    is_version_known: bool = True
    trouble: str = ""
    """Why the source was not asked."""

    host: str = ""


def profile_checks(reading: ProfileReading | None, *, unchecked: bool) -> tuple[Check, ...]:
    """One check for each finding that matters; errors refuse the plan unless `unchecked`."""
    if reading is None:
        return ()
    return tuple(_checks(reading, unchecked=unchecked))


def _checks(reading: ProfileReading, *, unchecked: bool) -> Iterator[Check]:
    found = [
        finding
        for finding in reading.findings
        if finding.severity is not Severity.HINT and finding.rule not in _SAID_BY_OTHERS
    ]
    if not reading.is_from_source:
        words = f"the source of the build was not asked ({reading.trouble})"
        step = f"specctl inspect {reading.host} says what could be read of it."
        yield warned(NAME, f"{words}; {reading.build}'s rules were taken", step)
    elif not found:
        yield passed(NAME, f"{reading.build}'s own source has nothing against it")
    for finding in found:
        yield _check(finding, is_refused=_refuses(finding, reading, unchecked=unchecked))


def _refuses(finding: Finding, reading: ProfileReading, *, unchecked: bool) -> bool:
    is_error = finding.severity is Severity.ERROR
    return is_error and reading.is_version_known and not unchecked


def _check(finding: Finding, *, is_refused: bool) -> Check:
    source = f" [{finding.place}]" if finding.place else ""
    words = f"{_where(finding)}{finding.message}{source}"
    if is_refused:
        return refused(NAME, words, f"{_sentence(finding.fix)} {_OVERRIDE}".strip())
    return warned(NAME, words, _sentence(finding.fix))


def _where(finding: Finding) -> str:
    place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    return " ".join(part for part in (place, f"{finding.key}:") if part.strip(":")) + " "


def _sentence(fix: str) -> str:
    return f"{fix[:1].upper()}{fix[1:]}." if fix else ""
