"""`specctl profiles`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import say
from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.simulated import WORD
from specctl.cli.table import table
from specctl.domain.listed import ProfileList, lint_marks, list_profile
from specctl.domain.plain import plain
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.adapters.workspace import Workspace
    from specctl.cli.invocation import Invocation
    from specctl.domain.listed import ListedProfile
    from specctl.domain.profile import Profile
    from specctl.services.linting import Verdict

HEADERS = ("profile", "lint", "draft", "baseline", "model", "description")
MODEL_CELLS = 40
UNKNOWN = "—"


@click.command()
@click.option(
    "--on",
    "host",
    metavar="HOST",
    help="With its values, against its SGLang; else no host is asked.",
)
@json_option
@click.pass_obj
def command(invocation: Invocation, host: str | None, *, as_json: bool) -> None:
    """List the profiles of the workspace, each with what `check` makes of it.

    \b
    specctl profiles
    specctl profiles --on gpu8 --json
    """  # noqa: D301  click reads \b
    workspace = invocation.workspace()
    listed = _on(invocation, host) if host else _here(workspace)
    if as_json:
        write_json("profiles", plain(listed))
        return
    if not listed.profiles:
        say("no profile yet: specctl import NAME launch.sh makes one of a launch command")
        return
    for line in table(HEADERS, map(_row, listed.profiles)):
        write(line)
    say(f"✗ errors, ▲ warnings and rewrites, against {listed.build}: specctl check PROFILE")


def _here(workspace: Workspace) -> ProfileList:
    from specctl.services.linting import check_files

    return listing(workspace, workspace.profiles(), check_files(workspace))


def _on(invocation: Invocation, host: str) -> ProfileList:
    from specctl.cli.running import run

    return run(_read_on(invocation, host))


async def _read_on(invocation: Invocation, host: str) -> ProfileList:
    from specctl.cli.running import fleet_of
    from specctl.services.linting import check_on

    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        verdict = await check_on(connection, fleet.workspace)
        names = fleet.workspace.profiles()
        there = {name: fleet.workspace.profile(name, connection.host) for name in names}
        return listing(fleet.workspace, there, verdict)


def listing(workspace: Workspace, profiles: Mapping[str, Profile], verdict: Verdict) -> ProfileList:
    """Every profile file, the unusable ones too."""
    rows = tuple(
        list_profile(
            name, workspace.profile_file(name), profiles.get(name), verdict.findings,
            is_simulated=workspace.is_of_lab(name),
        )
        for name in workspace.profile_names()
    )  # fmt: skip
    return ProfileList(verdict.build.name, verdict.host, rows)


def _row(row: ListedProfile) -> tuple[str, ...]:
    name = row.name + (f" ({WORD})" if row.simulated else "")
    draft = (row.algorithm or "none") if row.is_usable else UNKNOWN
    model = clean(row.model or UNKNOWN)
    short = model if len(model) <= MODEL_CELLS else f"…{model[1 - MODEL_CELLS :]}"
    words = clean(row.description or "") if row.is_usable else f"unusable: specctl check {row.name}"
    return (name, lint_marks(row), clean(draft), row.baseline or UNKNOWN, short, words)
