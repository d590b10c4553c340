"""`specctl logs HOST[/SERVER] [-f]`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.output import write
from specctl.cli.running import fleet_of, run, split_server

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation


@click.command()
@click.argument("place", metavar="HOST[/SERVER]")
@click.option("-f", "--follow", is_flag=True, help="Go on as it grows.")
@click.option("-n", "--lines", type=click.IntRange(1), default=200, show_default=True,
              help="Begin so many lines before the end.")  # fmt: skip
@click.option("--cause", is_flag=True, help="Only the first cause of a failure.")
@click.pass_obj
def command(invocation: Invocation, place: str, *, follow: bool, lines: int, cause: bool) -> None:
    """Print a server's log, also of one that specctl did not start.

    \b
    specctl logs gpu8 -f
    specctl logs gpu8/7c1e --cause
    """  # noqa: D301  click reads \b
    with contextlib.suppress(KeyboardInterrupt):
        run(_logs(invocation, place, lines, follow=follow, cause=cause))


async def _logs(
    invocation: Invocation, place: str, lines: int, *, follow: bool, cause: bool
) -> None:
    from specctl.services.reading_logs import follow_log, open_log, why_it_failed

    host, name = split_server(place)
    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        log = await open_log(connection, name, lines)
        diagnostics.say(f"{host}/{log.server.name}: {log.path}")
        if cause:
            found = why_it_failed(log)
            write(found.line or found.summary)
            diagnostics.say(found.words)
            diagnostics.say(f"next: {found.next_step}")
            return
        for line in log.last:
            write(line)
        if follow:
            async for line in follow_log(fleet, log, diagnostics.say):
                write(line)
