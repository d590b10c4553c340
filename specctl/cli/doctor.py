"""`specctl doctor [HOST…]`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click

from specctl.cli.invocation import json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.running import chosen_hosts, fleet_of, run
from specctl.domain.doctor import Level, worst
from specctl.domain.plain import plain
from specctl.domain.published import Examined, HostRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.doctor import Row
    from specctl.services.doctoring import Examination

STATUSES = {Level.PASS: 0, Level.WARN: 1, Level.FAIL: 2}
COLOURS = {Level.PASS: "green", Level.WARN: "yellow", Level.FAIL: "red"}


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@json_option
@click.pass_obj
def command(invocation: Invocation, hosts: tuple[str, ...], *, as_json: bool) -> int:
    """Check everything a host needs, one row each; exit 0 pass, 1 warnings, 2 failures.

    \b
    specctl doctor                       every host of the workspace
    specctl doctor gpu8 --json
    """  # noqa: D301  click reads \b
    found = run(_examine(invocation, hosts))
    if as_json:
        write_json("doctor", plain(examined(found)))
    else:
        for one in found:
            write_rows(one.host, one.rows)
    return STATUSES[worst(_all_rows(found))]


def examined(found: Sequence[Examination]) -> Examined:
    """Examinations as they are published."""
    rows = tuple(
        HostRow(one.host, row.name, row.level, row.words, row.next_step)
        for one in found
        for row in one.rows
    )
    return Examined(rows, worst(_all_rows(found)))


def _all_rows(found: Sequence[Examination]) -> list[Row]:
    return [row for one in found for row in one.rows]


async def _examine(invocation: Invocation, hosts: Sequence[str]) -> list[Examination]:
    from specctl.services.doctoring import examine

    async with fleet_of(invocation) as fleet:
        names = chosen_hosts(fleet.workspace, hosts)
        return list(await asyncio.gather(*(examine(fleet, name) for name in names)))


def write_rows(host: str, rows: Sequence[Row]) -> None:
    """One host's rows, each next step under its row."""
    write(style(host, "bold"))
    for row in rows:
        write(f"  {style(row.level, COLOURS[row.level])}  {row.name:<10} {row.words}")
        if row.next_step:
            write(f"        {'':<10} {style('→', 'dim')} {row.next_step}")
