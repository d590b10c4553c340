"""`specctl forward HOST[/SERVER]`."""

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
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
              help="The local port; 0 is any.")  # fmt: skip
@click.pass_obj
def command(invocation: Invocation, place: str, port: int) -> None:
    """Open a server's API on a port of this machine's loopback until Ctrl-C.

    \b
    specctl forward gpu8 --port 30000
    """  # noqa: D301  click reads \b
    with contextlib.suppress(KeyboardInterrupt):
        run(_forward(invocation, place, port))


async def _forward(invocation: Invocation, place: str, port: int) -> None:
    from specctl.services.forwarding import forward_server

    host, server = split_server(place)
    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        async with forward_server(connection, server, port) as (local_port, remote_port):
            write(f"http://127.0.0.1:{local_port}")
            diagnostics.say(f"leads to {host} port {remote_port}; Ctrl-C closes it")
            raise await connection.agent.wait_closed()
