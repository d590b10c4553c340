"""`specctl watch HOST…`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from specctl.cli.invocation import Seconds, json_option
from specctl.cli.output import write, write_json
from specctl.cli.running import chosen_hosts, exit_status, fleet_of, run
from specctl.cli.status_text import watch_line
from specctl.domain.events import HostSampled, LinkChanged, LogRead, ServersSeen
from specctl.domain.plain import plain_event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.events import Event
    from specctl.domain.state import State


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@json_option
@click.option("--logs", is_flag=True, help="With the lines of the servers' logs.")
@click.option("--interval", "interval_s", type=Seconds(0.1, 3600), default=1.0,
              show_default=True, metavar="SECONDS", help="Between samples.")  # fmt: skip
@click.option("--for", "for_s", type=Seconds(0, None), metavar="SECONDS", help="End after so long.")
@click.pass_obj
def command(
    invocation: Invocation,
    hosts: tuple[str, ...],
    *,
    as_json: bool,
    logs: bool,
    interval_s: float,
    for_s: float | None,
) -> int:
    """Print what happens on hosts as it happens: a line a sample, or with --json every event.

    With --for, exit 3 when a host is not reached at the end.

    \b
    specctl watch                        every host of the workspace
    specctl watch gpu8 --logs --for 60
    specctl watch gpu8 --json | jq 'select(.event == "ServerSampled")'
    """  # noqa: D301  click reads \b
    writer = _write_json(logs=logs) if as_json else _write_text(logs=logs)
    with contextlib.suppress(KeyboardInterrupt):
        return run(_watch(invocation, hosts, interval_s, for_s, writer))
    return 0


async def _watch(
    invocation: Invocation,
    hosts: Sequence[str],
    interval_s: float,
    for_s: float | None,
    writer: Callable[[Event, State], None],
) -> int:
    import asyncio

    from specctl.services.monitor import Monitor
    from specctl.services.server_keys import keys_for

    async with fleet_of(invocation) as fleet:
        names = chosen_hosts(fleet.workspace, hosts)
        fleet.store.subscribe(writer)
        monitor = Monitor(fleet, interval_s=interval_s, keys=keys_for(fleet.workspace))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(for_s):
                await monitor.watch(names)
        return exit_status(fleet, names)


def _write_json(*, logs: bool) -> Callable[[Event, State], None]:
    def write_event(event: Event, _state: State) -> None:
        if logs or not isinstance(event, LogRead):
            write_json("event", plain_event(event), lines=True)

    return write_event


def _write_text(*, logs: bool) -> Callable[[Event, State], None]:
    def write_event(event: Event, state: State) -> None:
        match event:
            case HostSampled(host=host):
                write(watch_line(host, state.host(host)))
            case LinkChanged(host=host, words=words) if words:
                write(f"{host}  {event.link}: {words}")
                if event.hint:
                    write(f"  → {event.hint}")
            case ServersSeen(host=host, servers=()) if state.host(host).sample is None:
                write(f"{host}  no server")
            case LogRead(host=host, server=server, lines=lines) if logs:
                for line in lines:
                    write(f"{host}/{server}| {line}")

    return write_event
