"""`specctl alerts [HOST…]`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from specctl.cli.alerts_text import alert_lines, change_line
from specctl.cli.diagnostics import say, warn
from specctl.cli.invocation import Seconds, json_option
from specctl.cli.output import write, write_json
from specctl.cli.running import chosen_hosts, fleet_of, run
from specctl.domain.alerts.published import open_alerts
from specctl.domain.events import AlertsChanged
from specctl.domain.plain import plain, plain_event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.events import Event
    from specctl.domain.state import State
    from specctl.services.fleet import Fleet


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option("--watch", "follow", is_flag=True, help="Print each as it is raised or cleared.")
@click.option("--for", "for_s", type=Seconds(0, None), metavar="SECONDS",
              help="With --watch: end after so long.")  # fmt: skip
@json_option
@click.pass_obj
def command(
    invocation: Invocation, hosts: tuple[str, ...], *, follow: bool, for_s: float | None,
    as_json: bool,
) -> int:  # fmt: skip
    """Say what is wrong on hosts and servers; exit 1 when something is.

    One look cannot wait: an alert that has to last for a time is shown when it
    holds now. With --watch the times of alerts.toml count; --json then prints
    the events.

    \b
    specctl alerts                       every host of the workspace
    specctl alerts gpu8 --json
    specctl alerts --watch --for 3600
    """  # noqa: D301  click reads \b
    with contextlib.suppress(KeyboardInterrupt):
        if follow:
            return run(_follow(invocation, hosts, for_s, as_json=as_json))
        return run(_look(invocation, hosts, as_json=as_json))
    return 0


async def _look(invocation: Invocation, hosts: Sequence[str], *, as_json: bool) -> int:
    from specctl.services.alerting import excuse_measured, judge_at_once
    from specctl.services.readout import read_out
    from specctl.services.server_keys import keys_for

    async with fleet_of(invocation) as fleet:
        names = _chosen(fleet, hosts)
        alerting = await judge_at_once(fleet)
        await read_out(fleet, names, keys_for(fleet.workspace))
        await excuse_measured(fleet, alerting, names)
        found = open_alerts(fleet.store.state, names)
    if as_json:
        write_json("alerts", plain(found))
    else:
        write("\n".join(alert_lines(found)))
    return int(bool(found.alerts))


async def _follow(
    invocation: Invocation, hosts: Sequence[str], for_s: float | None, *, as_json: bool
) -> int:
    import asyncio

    from specctl.services.monitor import Monitor
    from specctl.services.server_keys import keys_for

    async with fleet_of(invocation) as fleet:
        names = _chosen(fleet, hosts)
        fleet.store.subscribe(_writer(as_json=as_json))
        monitor = Monitor(fleet, keys=keys_for(fleet.workspace))
        say(f"watching {len(names)} {'host' if len(names) == 1 else 'hosts'}; ^C ends it")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(for_s):
                await monitor.watch(names)
        return int(bool(open_alerts(fleet.store.state, names).alerts))


def _chosen(fleet: Fleet, hosts: Sequence[str]) -> tuple[str, ...]:
    """The hosts; what is wrong with the rules is said, and the usual ones hold then."""
    for problem in fleet.workspace.alert_problems:
        warn(f"{problem}; the usual rules hold")
    return chosen_hosts(fleet.workspace, hosts)


def _writer(*, as_json: bool) -> Callable[[Event, State], None]:
    def write_change(event: Event, _state: State) -> None:
        if isinstance(event, AlertsChanged):
            if as_json:
                write_json("event", plain_event(event), lines=True)
            else:
                write(change_line(event))

    return write_change
