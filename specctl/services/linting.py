"""Check profiles against the rules of the SGLang build that would run them.

Without a host no connection is needed: what reads one is imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError
from specctl.domain.lint.build import LATEST, Build
from specctl.domain.lint.engine import NOWHERE, Linted, lint
from specctl.domain.lint.finding import Finding, Severity, by_line
from specctl.domain.lint.plan_checks import ProfileReading
from specctl.facts.lint_source import build_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from specctl.adapters.workspace import Workspace
    from specctl.domain.lint.case import Surroundings
    from specctl.domain.preflight import BuildReading, Preflight
    from specctl.domain.problem import Problem
    from specctl.domain.profile import Profile
    from specctl.domain.sample import Sample
    from specctl.services.connection import Connection

__all__ = [
    "Verdict", "build_here", "build_on", "by_line", "check_files", "check_on", "lint_on",
    "lint_profile",
]  # fmt: skip

_builds: dict[str, Build] = {}
"""By tree hash: reading what the rules need of a source takes a tenth of a second."""

_BUILDS_KEPT = 8


@dataclass(frozen=True, slots=True)
class Verdict:
    """Everything found, and the build that was asked."""

    findings: tuple[Finding, ...]
    build: Build
    host: str | None = None

    def count(self, severity: Severity) -> int:
        """How many of one kind."""
        return sum(finding.severity is severity for finding in self.findings)


async def build_on(connection: Connection) -> Build:
    """The build that the host would launch; raises HostError where its tree cannot be read."""
    from specctl.services.inspection import open_tree

    opened = await open_tree(connection)
    return _build(opened.tree.tree_hash, lambda: build_of(opened.tree, opened.texts))


async def build_here(directory: Path) -> Build:
    """The build of a tree on this machine."""
    from specctl.services.inspection import open_tree_here

    opened = await open_tree_here(directory)
    return _build(opened.tree.tree_hash, lambda: build_of(opened.tree, opened.texts))


async def _look_around(
    connection: Connection, profile: Profile, *, sample: Sample | None = None
) -> Surroundings:
    from specctl.services.lint_surroundings import look_around

    return await look_around(connection, profile, sample=sample)


def _build(tree_hash: str | None, read: Callable[[], Build]) -> Build:
    if tree_hash is None:
        return read()
    if tree_hash not in _builds:
        while len(_builds) >= _BUILDS_KEPT:
            del _builds[next(iter(_builds))]
        _builds[tree_hash] = read()
    return _builds[tree_hash]


async def lint_on(
    connection: Connection, profile: Profile, *, sample: Sample | None = None
) -> Linted:
    """One profile against the build, the GPUs and the models of a host."""
    build = await build_on(connection)
    around = await _look_around(connection, profile, sample=sample)
    return lint(profile, build, around, connection.host)


async def read_profile(
    connection: Connection, profile: Profile, preflight: Preflight
) -> ProfileReading | None:
    """The same for the plan of a start, which a tree that cannot be read does not hold up.

    None where there is no SGLang to ask.
    """
    if preflight.build is None or preflight.build.path is None:
        return None
    build, trouble = await _build_or_version(connection, preflight.build)
    around = await _look_around(connection, profile, sample=preflight.sample)
    return ProfileReading(
        findings=lint(profile, build, around, connection.host).findings,
        build=build.name,
        is_from_source=build.tree is not None,
        is_version_known=not build.is_assumed,
        trouble=trouble,
        host=connection.host.name,
    )


async def _build_or_version(
    connection: Connection, found: BuildReading | None
) -> tuple[Build, str]:
    try:
        build = await build_on(connection)
    except SpecctlError as error:
        version = found.version if found else None
        return Build(version or LATEST, is_assumed=version is None), error.message
    return build, "" if build.tree else "it declares no flags in a way that is known"


def lint_profile(
    profile: Profile, build: Build | None = None, around: Surroundings = NOWHERE
) -> tuple[Finding, ...]:
    """One profile against a build; without one, against the newest version known here."""
    return lint(profile, build, around).findings


def check_files(
    workspace: Workspace, names: Sequence[str] = (), build: Build | None = None
) -> Verdict:
    """Everything wrong with the profiles named, or with every file, without asking a host."""
    build = build or Build()
    found = list(_problems(workspace, names))
    for name in names or workspace.profiles():
        for profile in _variants(workspace, name):
            found += lint_profile(profile, build)
    return Verdict(_ordered(found), build)


async def check_on(
    connection: Connection, workspace: Workspace, names: Sequence[str] = ()
) -> Verdict:
    """The same with the values of one host, against its build, GPUs and models."""
    found = list(_problems(workspace, names, on=connection.host.name))
    build = await build_on(connection)
    for name in names or workspace.profiles():
        if name in workspace.profiles():
            profile = workspace.profile(name, connection.host)
            around = await _look_around(connection, profile)
            found += lint(profile, build, around, connection.host).findings
    return Verdict(_ordered(found), build, connection.host.name)


def _variants(workspace: Workspace, name: str) -> Iterable[Profile]:
    """A profile as it is, and as it is on each host it has values for."""
    if name not in workspace.profiles():
        return
    yield workspace.profiles()[name]
    for host in workspace.overriding_hosts(name):
        yield workspace.profile(name, host)


def _problems(
    workspace: Workspace, names: Sequence[str], on: str | None = None
) -> Iterable[Finding]:
    """Mistakes in the files; which flags there are is for the build to say."""
    usable = {profile.file for profile in workspace.profiles().values()}
    for problem in workspace.check(names, on=on):
        is_judged = problem.is_about_build and problem.file in usable
        if not is_judged and (on is None or _concerns(problem, on)):
            yield as_finding(problem)


def _concerns(problem: Problem, host: str) -> bool:
    """Values for another host do not count on this one."""
    table, _, rest = problem.key.partition(".")
    return table != "on" or rest.partition(".")[0] == host


def as_finding(problem: Problem) -> Finding:
    """A mistake in a file, as the rules say theirs."""
    return Finding(
        severity=Severity.WARNING if problem.is_warning else Severity.ERROR,
        key=problem.key,
        message=problem.message,
        rule="file",
        file=problem.file,
        line=problem.line,
        nearest=problem.nearest,
    )


def _ordered(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each once, by file and line, the worst of a line first."""
    order: Mapping[Severity, int] = {severity: n for n, severity in enumerate(Severity)}
    return tuple(
        sorted(
            dict.fromkeys(found),
            key=lambda f: (f.file, f.line or 0, order[f.severity], f.key),
        )
    )
