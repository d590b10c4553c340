"""`specctl start HOST PROFILE`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from specctl.cli.applying import allow, report, show
from specctl.cli.invocation import json_option, yes_option
from specctl.cli.plan_text import Announcer
from specctl.cli.running import fleet_of, keeper_of, run, say_kept

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.preflight import StartOptions
    from specctl.services.outcome import Outcome

INDEX = re.compile(r"[0-9]{1,3}")


def read_gpus(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[int, ...] | None:
    """`0,1,2,3` or `0-3,6` as indices, in the order given."""
    if value is None:
        return None
    found: list[int] = []
    for part in value.split(","):
        first, dash, last = part.strip().partition("-")
        ends = [end for end in (first, last if dash else first) if INDEX.fullmatch(end)]
        if len(ends) != 2 or int(ends[0]) > int(ends[1]):  # noqa: PLR2004
            words = f"{part!r} is no GPU index; write 0,1,2,3 or 0-3"
            raise click.BadParameter(words, ctx, param)
        found += range(int(ends[0]), int(ends[1]) + 1)
    return tuple(dict.fromkeys(found))


@click.command()
@click.argument("host")
@click.argument("profile")
@click.option("--dry-run", is_flag=True, help="Print the plan and do nothing.")
@click.option("--replace", is_flag=True, help="First stop our servers on the same GPUs or port.")
@click.option("--no-wait", is_flag=True, help="Launch, and do not wait until it is ready.")
@click.option(
    "--gpus",
    callback=read_gpus,
    metavar="LIST",
    help="Instead of the profile's, as the driver numbers them: 0-3,6.",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="PORT", help="Instead of the profile's."
)
@click.option("--unchecked", is_flag=True,
              help="Start although the check of the profile found errors.")  # fmt: skip
@click.option("--confirm", "typed", default="", metavar="HOST",
              help="Allow it although others measure or have requests there.")  # fmt: skip
@yes_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    host: str,
    profile: str,
    *,
    dry_run: bool,
    replace: bool,
    no_wait: bool,
    gpus: tuple[int, ...] | None,
    port: int | None,
    unchecked: bool,
    typed: str,
    yes: bool,
    as_json: bool,
) -> None:
    """Start a server on HOST from PROFILE; the plan is shown before anything is done.

    Ctrl-C stops following, never the load.

    \b
    specctl start gpu8 llama-8b-eagle3 --dry-run
    specctl start gpu8 llama-8b-eagle3
    specctl start gpu8 llama-8b-eagle3 --gpus 4 --port 31000 --yes --json
    """  # noqa: D301  click reads \b
    from specctl.domain.preflight import StartOptions

    options = StartOptions(replace, gpus, port, unchecked)
    starting = Starting(invocation, host, profile, options)
    outcome = run(
        starting.run(dry_run=dry_run, wait=not no_wait, yes=yes, typed=typed, as_json=as_json)
    )
    if outcome is not None:
        report(outcome, as_json=as_json)


class Starting:
    """One start from the command line."""

    def __init__(
        self, invocation: Invocation, host: str, profile: str, options: StartOptions
    ) -> None:
        self._invocation, self._host = invocation, host
        self._profile, self._options = profile, options

    async def run(
        self, *, dry_run: bool, wait: bool, yes: bool, typed: str, as_json: bool
    ) -> Outcome | None:
        """Plan, show, ask, carry out; None when only the plan was asked for."""
        from specctl.adapters.secrets import Secrets
        from specctl.services.earlier_starts import with_earlier_starts
        from specctl.services.launch import apply_launch, plan_launch
        from specctl.services.server_keys import keys_for

        secrets = Secrets.load()
        async with fleet_of(self._invocation) as fleet:
            profile = fleet.workspace.profile(self._profile, self._host)
            keys = keys_for(fleet.workspace)
            connection = await fleet.connect(self._host)
            plan = await plan_launch(
                connection,
                profile,
                self._options,
                secrets=secrets,
                clock=fleet.clock,
                keys_for=keys,
            )
            show(plan, as_json=as_json, dry_run=dry_run)
            if dry_run:
                return None
            allowed = allow(plan, yes=yes, typed=typed)
            fleet.store.subscribe(Announcer().take)
            outcome = await apply_launch(
                connection, plan, secrets=secrets, store=fleet.store, clock=fleet.clock,
                wait=wait, typed=allowed, keys_for=keys,
            )  # fmt: skip
            keeper = keeper_of(fleet)
            outcome = with_earlier_starts(outcome, keeper.path, profile.name, plan.version)
            await keeper.keep_launch(connection, plan, profile, outcome)
            say_kept(keeper, None)
            return outcome
