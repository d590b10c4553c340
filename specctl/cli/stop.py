"""`specctl stop HOST/SERVER`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli.applying import allow, report, show
from specctl.cli.invocation import json_option, yes_option
from specctl.cli.plan_text import Announcer
from specctl.cli.running import fleet_of, run, split_server

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.services.outcome import Outcome
    from specctl.services.stop import StopOptions


@click.command()
@click.argument("target", metavar="HOST[/SERVER]")
@click.option("--now", is_flag=True, help="End requests instead of waiting for them.")
@click.option(
    "--pid",
    type=click.IntRange(2),
    metavar="PID",
    help="Main process of a server that is not ours.",
)
@click.option("--confirm", "typed", default="", metavar="HOST",
              help="Allow it although others measure or have requests there.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Print the plan and do nothing.")
@yes_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    target: str,
    *,
    now: bool,
    pid: int | None,
    typed: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Stop a server: SIGTERM to its main process, SIGKILL to its group last, then the proof.

    Its name is the one that status shows; a host with one server needs none.

    \b
    specctl stop gpu8 --dry-run
    specctl stop gpu8/7c1e
    specctl stop gpu8/pid-4242 --pid 4242    one that is not ours
    """  # noqa: D301  click reads \b
    from specctl.services.stop import StopOptions

    options = StopOptions(now=now, pid=pid)
    allowance = typed or (str(pid) if pid is not None else "")
    outcome = run(
        _stop(invocation, target, options, allowance, dry_run=dry_run, yes=yes, as_json=as_json)
    )
    if outcome is not None:
        report(outcome, as_json=as_json)


async def _stop(
    invocation: Invocation,
    target: str,
    options: StopOptions,
    typed: str,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> Outcome | None:
    from specctl.services.measured_server import NO_KEYS
    from specctl.services.server_keys import keys_for
    from specctl.services.stop import plan_stop, stop_server

    host, name = split_server(target)
    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        keys = keys_for(fleet.workspace)
        plan = await plan_stop(connection, name, options, clock=fleet.clock, keys_for=keys)
        show(plan, as_json=as_json, dry_run=dry_run)
        if dry_run:
            return None
        allowed = allow(plan, yes=yes, typed=typed)
        fleet.store.subscribe(Announcer().take)
        own_keys = keys(connection.host, plan.target) if plan.target else NO_KEYS
        return await stop_server(
            connection, plan, store=fleet.store, clock=fleet.clock, typed=allowed, keys=own_keys
        )
