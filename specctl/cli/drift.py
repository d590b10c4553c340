"""`specctl drift HOST[/SERVER]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli.drift_text import write_drift
from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.running import fleet_of, run, split_server
from specctl.domain.drift import Drifts
from specctl.domain.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.drift import ServerDrift

NOT_MET = 5


@click.command()
@click.argument("place", metavar="HOST[/SERVER]")
@json_option
@click.pass_obj
def command(invocation: Invocation, place: str, *, as_json: bool) -> int:
    """Compare what runs with what its profile says now, and with what is installed.

    Exit status: 0 when nothing has drifted, 5 when a new start would differ. What the engine
    rewrites is shown and does not count: it would be rewritten again.

    \b
    specctl drift gpu8
    specctl drift gpu8/5c0f --json
    """  # noqa: D301  click reads \b
    found = run(_read(invocation, place))
    host = split_server(place)[0]
    if as_json:
        write_json("drift", plain(published(host, found)))
    elif not found:
        write(f"{host}  no server runs")
    for one in () if as_json else found:
        write_drift(one)
    return NOT_MET if any(one.drifted for one in found) else 0


def published(host: str, found: Sequence[ServerDrift]) -> Drifts:
    """What is printed of a host's servers."""
    drifted = tuple(one.server for one in found if one.drifted)
    return Drifts(host, tuple(found), drifted)


async def _read(invocation: Invocation, place: str) -> tuple[ServerDrift, ...]:
    from specctl.services.drift import read_drift
    from specctl.services.server_keys import keys_for

    host, server = split_server(place)
    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        return await read_drift(connection, fleet.workspace, keys_for(fleet.workspace), server)
