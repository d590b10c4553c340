"""Lead a profile through the rules in the order in which the server resolves its arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.lint.build import LATEST, Build
from specctl.domain.lint.case import Case, Surroundings
from specctl.domain.lint.finding import Finding, Severity
from specctl.domain.lint.given import given_by_argv, given_by_profile
from specctl.domain.lint.naming import name_all, settle_names, values_of
from specctl.domain.lint.rule import Hit, Rule
from specctl.domain.lint.rules import PIPELINE
from specctl.domain.versions import read_version

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.lint.given import Given
    from specctl.domain.profile import Corpus, Profile, Value
    from specctl.domain.source import Place

NOWHERE = Surroundings()


@dataclass(frozen=True, slots=True)
class Linted:
    """What was found, and what the server would go on with."""

    findings: tuple[Finding, ...]
    resolved: Mapping[str, Value | None]
    """Flag, in its first spelling, to the value after resolution, as far as it can be told."""

    @property
    def is_refused(self) -> bool:
        """The server would not start."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)


def lint(
    profile: Profile,
    build: Build | None = None,
    around: Surroundings = NOWHERE,
    host: Host | None = None,
) -> Linted:
    """Check one profile; every finding is at the line that sets the value."""
    linted = _resolve(
        given_by_profile(profile, host), build or Build(), around, corpora=profile.corpora
    )
    return Linted(tuple(_at_line(profile, host, f) for f in linted.findings), linted.resolved)


def lint_argv(
    options: Sequence[str],
    build: Build | None = None,
    around: Surroundings = NOWHERE,
    environment: Mapping[str, str] | None = None,
) -> Linted:
    """Check a command line without what comes before its options."""
    return _resolve(given_by_argv(options, environment), build or Build(), around)


def _resolve(
    given: Given, build: Build, around: Surroundings, corpora: tuple[Corpus, ...] = ()
) -> Linted:
    named = name_all(given, build)
    case = Case(
        given=settle_names(given, named),
        around=around,
        build=build,
        corpora=corpora,
        named=named,
        values=values_of(named, build),
    )
    findings: list[Finding] = []
    for item in PIPELINE:
        if isinstance(item, Rule):
            findings += _apply(item, case)
        else:
            item.settle(case)
    return Linted(tuple(findings), case.values)


def _apply(rule: Rule, case: Case) -> list[Finding]:
    """The findings of one rule; what it rewrites is rewritten for those after it."""
    hits = tuple(rule.judge(case))
    held = _standing(rule, case) if hits else None
    if held is None:
        return []
    is_sure, place, line = held
    if is_sure:
        for hit in hits:
            case.values.update(hit.sets)
    return [_finding(rule, hit, case, place, line, is_sure=is_sure) for hit in hits]


def _standing(rule: Rule, case: Case) -> tuple[bool, Place | None, str] | None:
    """Whether a rule holds for the build, and its line; None when it does not.

    Where the texts are at hand they decide: a line that is there holds in any version, and a rule
    whose line a known version should have, or a newer one has lost, is no more than a hint.
    """
    build = case.build
    holds = rule.span.holds(build.number)
    if rule.source is None or not build.texts:
        return (True, None, "") if holds else None
    if not rule.source.is_at_hand(build.texts):
        return (True, None, "") if holds else None
    found = rule.source.find(build.texts)
    if found is not None:
        is_new = not rule.span.until and build.number > (read_version(LATEST) or ())
        return (True, *found) if holds or is_new else None
    return (False, None, "") if holds else None


def _finding(
    rule: Rule, hit: Hit, case: Case, place: Place | None, line: str, *, is_sure: bool
) -> Finding:
    closer = hit.source.find(case.build.texts) if hit.source and is_sure else None
    place, line = closer or (place, line)
    severity = hit.severity or rule.severity
    message = hit.message
    if not is_sure:
        severity = Severity.HINT
        message += f" (in {LATEST}; the source of this build has no such line)"
    return Finding(
        severity=severity,
        key=case.given.key(hit.flag) + ("" if hit.item is None else f"[{hit.item}]"),
        message=message,
        fix=hit.fix,
        rule=rule.id,
        versions=str(rule.span),
        place=hit.place or place,
        source_line="" if hit.place else line,
        nearest=hit.nearest,
    )


def _at_line(profile: Profile, host: Host | None, finding: Finding) -> Finding:
    key = finding.key
    origin = profile.origin(key) or profile.origin(key.partition("[")[0])
    if origin is None and key.startswith("speculation."):
        origin = profile.origin("speculation.algorithm")
    file = origin.file if origin else profile.file
    table, _, name = key.partition(".")
    if origin is None and host is not None and table == "env" and name in host.environment:
        file = host.file
    line = origin.line if origin else None
    return replace(finding, file=file, line=line, profile=profile.name)
