"""`specctl adopt HOST PID`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.applying import allow, report, show
from specctl.cli.invocation import json_option, yes_option
from specctl.cli.running import fleet_of, run

if TYPE_CHECKING:
    from specctl.adapters.workspace import Workspace
    from specctl.cli.invocation import Invocation
    from specctl.domain.importing import Draft
    from specctl.services.outcome import Outcome


@click.command()
@click.argument("host")
@click.argument("pid", type=click.IntRange(2))
@click.option("--write-profile", "profile", metavar="NAME",
              help="Also make a profile of it; secrets are named, not written.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the plan and do nothing.")
@yes_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    host: str,
    pid: int,
    *,
    profile: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Take a server under care that was started some other way, so that it may be stopped.

    PID is its main process, as status shows it. The server itself is not touched.

    \b
    specctl adopt gpu8 4242 --dry-run
    specctl adopt gpu8 4242 --write-profile mine
    """  # noqa: D301  click reads \b
    outcome = run(_adopt(invocation, host, pid, profile, dry_run=dry_run, yes=yes, as_json=as_json))
    if outcome is not None:
        report(outcome, as_json=as_json)


async def _adopt(
    invocation: Invocation,
    host: str,
    pid: int,
    profile: str | None,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> Outcome | None:
    from specctl.services.adoption import adopt, draft_profile, plan_adopt

    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        plan = await plan_adopt(connection, pid)
        show(plan, as_json=as_json, dry_run=dry_run)
        if dry_run:
            return None
        allow(plan, yes=yes)
        if profile is not None and plan.target is not None:
            draft, _ = await draft_profile(connection, plan.target)
            _write(fleet.workspace, profile, draft)
        return await adopt(connection, plan, store=fleet.store, clock=fleet.clock, profile=profile)


def _write(workspace: Workspace, name: str, draft: Draft) -> None:
    from specctl.adapters import paths

    path = workspace.write_profile(name, draft.values, comments=draft.comments)
    for remark in draft.remarks:
        diagnostics.say(remark)
    for secret, stood in draft.secrets.items():
        diagnostics.warn(f"{stood} holds a secret: not written, named secret:{secret} instead")
    diagnostics.say(f"written: {paths.short(path)}")
