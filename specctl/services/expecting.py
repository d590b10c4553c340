"""Finds the runs that a profile's expectations are held against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specctl.adapters.evidence import Evidence
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.expecting import expect
from specctl.domain.runs import WITH_FIGURES, RunKind
from specctl.services.launch import recipe_hash
from specctl.services.run_figures import figures_of
from specctl.services.runs import find_evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.ledger import Ledger
    from specctl.adapters.workspace import Workspace
    from specctl.domain.expecting import Expected
    from specctl.domain.profile import Profile
    from specctl.domain.run_figures import RunFigures
    from specctl.domain.runs import Run

MOST_RUNS = 500
"""Looked through, the newest first."""


def expect_at(
    ledger: Ledger, workspace: Workspace, place: str, *, concurrency: int | None = None
) -> tuple[Expected, ...]:
    """The expectations met at `HOST[/SERVER]`, in a run or in a bundle.

    Raises UsageError when no profile there expects anything.
    """
    host, _, server = place.partition("/")
    if host in workspace.hosts() and not Path(place).is_file():
        profiles, runs = _on_host(ledger, workspace, host, server)
    else:
        run = figures_of(find_evidence(ledger, place))
        host, runs = run.host, [run]
        profiles = _known(workspace, host, dict.fromkeys(arm.profile for arm in run.arms))
    rows = [
        row
        for profile in profiles
        for row in expect(
            host,
            profile,
            recipe_hash(profile),
            runs,
            concurrency=concurrency,
            baseline_recipe=_baseline_recipe(workspace, host, profile),
        )
    ]
    if not rows:
        if not profiles:
            raise UsageError(
                f"nothing is expected at {place}: no server of a profile runs there",
                hint="Name a run of the ledger instead: specctl runs list",
            )
        names = ", ".join(profile.name for profile in profiles)
        raise UsageError(
            f"nothing is expected at {place}: {names}",
            hint="Say it in the profile: [expectation] accept_length = 2.5",
        )
    return tuple(rows)


def _baseline_recipe(workspace: Workspace, host: str, profile: Profile) -> str | None:
    """None where the profile names none, or it is no longer in the workspace."""
    found = _known(workspace, host, [profile.baseline] if profile.baseline else [])
    return recipe_hash(found[0]) if found else None


def _on_host(
    ledger: Ledger, workspace: Workspace, host: str, server: str
) -> tuple[list[Profile], list[RunFigures]]:
    """Without a server every profile measured there; else those of its probes."""
    runs = list(ledger.runs(host=host, kinds=WITH_FIGURES, most=MOST_RUNS))
    if server:
        runs = [run for run in runs if _is_of(run, server)]
        if not runs:
            raise UsageError(
                f"nothing was measured of {host}/{server}", hint=f"specctl probe {host}/{server}"
            )
    names = dict.fromkeys(name for run in runs for name in run.profiles)
    return _known(workspace, host, names), [_figures(ledger, run) for run in runs]


def _is_of(run: Run, server: str) -> bool:
    """A probe of the server by its name, or whatever was measured of a profile of that name."""
    name = run.document.get("server")
    return server in run.profiles or (isinstance(name, str) and name.startswith(server))


def _figures(ledger: Ledger, run: Run) -> RunFigures:
    blocks = ledger.blocks(run.id) if run.kind is RunKind.TRIAL else ()
    return figures_of(Evidence(run, blocks))


def _known(
    workspace: Workspace, host: str, names: Sequence[str] | dict[str, None]
) -> list[Profile]:
    """The profiles of the workspace that have these names, as they are on the host."""
    on = host if host in workspace.hosts() else None
    found = []
    for name in names:
        try:
            found.append(workspace.profile(name, on=on))
        except InvalidFileError:
            raise
        except UsageError:  # measured once, and no longer in the workspace
            continue
    return found
