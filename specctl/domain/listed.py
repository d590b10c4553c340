"""The hosts and profiles of a workspace, one row each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.lint.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.host import Host
    from specctl.domain.lint.finding import Finding
    from specctl.domain.profile import Profile


@dataclass(frozen=True, slots=True)
class ListedProfile:
    """One profile, without its values."""

    name: str
    file: str
    """As the user would type it."""

    is_usable: bool
    """False where its file has a mistake: what stands in it is then not known."""

    description: str | None
    """None where it is not usable."""

    model: str | None
    """None where it is not usable."""

    algorithm: str | None
    """Of its drafts; None where it does not speculate, or is not usable."""

    baseline: str | None
    """The profile it is compared with; None where it names none."""

    errors: int
    rewrites: int
    warnings: int
    hints: int
    simulated: bool
    """It is one of the lab's."""


@dataclass(frozen=True, slots=True)
class ProfileList:
    """The profiles of a workspace, with how many findings each has."""

    build: str
    """What they were checked against, e.g. `SGLang 0.5.23`."""

    host: str | None
    """Whose values and build were asked; None for nobody's."""

    profiles: tuple[ListedProfile, ...]


@dataclass(frozen=True, slots=True)
class ListedHost:
    """One host as its file describes it; nothing of it was asked."""

    name: str
    file: str
    """As the user would type it."""

    reached: str
    """How: `ssh ALIAS`, an address, or `this machine`."""

    labels: Mapping[str, str]
    read_only: bool
    simulated: bool
    notes: str


@dataclass(frozen=True, slots=True)
class HostList:
    """The hosts of a workspace."""

    hosts: tuple[ListedHost, ...]


def list_profile(
    name: str,
    file: str,
    profile: Profile | None,
    findings: Iterable[Finding],
    *,
    is_simulated: bool,
) -> ListedProfile:
    """One row; `findings` are those of the whole workspace."""
    own = [one for one in findings if name == one.profile or (not one.profile and file == one.file)]
    count = Counter(finding.severity for finding in own)
    speculation = profile.speculation if profile else None
    return ListedProfile(
        name=name,
        file=file,
        is_usable=profile is not None,
        description=profile.description if profile else None,
        model=profile.model if profile else None,
        algorithm=speculation.algorithm if speculation else None,
        baseline=profile.baseline if profile else None,
        errors=count[Severity.ERROR],
        rewrites=count[Severity.REWRITE],
        warnings=count[Severity.WARNING],
        hints=count[Severity.HINT],
        simulated=is_simulated,
    )


def list_host(host: Host) -> ListedHost:
    """One row."""
    return ListedHost(
        name=host.name,
        file=host.file,
        reached=_reached(host),
        labels=host.labels,
        read_only=host.read_only,
        simulated=host.is_simulated,
        notes=host.notes,
    )


def _reached(host: Host) -> str:
    """As a user would write it behind `ssh`."""
    inside = f", then {' '.join(host.enter)}" if host.enter else ""
    if host.transport == "local":
        return f"this machine{inside}"
    user = f"{host.user}@" if host.user else ""
    port = f":{host.port}" if host.port else ""
    return f"ssh {user}{host.ssh or host.address or host.name}{port}{inside}"


def lint_marks(row: ListedProfile) -> str:
    """`✗1 ▲2`: what stops it, and what changes or may hurt it; `✓` for neither."""
    changed = row.warnings + row.rewrites
    marks = [f"✗{row.errors}"] * bool(row.errors) + [f"▲{changed}"] * bool(changed)
    return " ".join(marks) or "✓"
