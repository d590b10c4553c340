"""`specctl status [HOST…]`."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import warn
from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.running import chosen_hosts, exit_status, fleet_of, run
from specctl.cli.status_text import host_lines
from specctl.cli.topology import show_topology
from specctl.domain.errors import UsageError
from specctl.domain.filter_fields import FIELDS, chooses, filter_of
from specctl.domain.plain import plain
from specctl.domain.published import Statuses
from specctl.domain.state import Link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.filter_terms import Filter
    from specctl.domain.state import State

CLEAR = "\x1b[H\x1b[2J"


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option("--watch", "again", is_flag=True, help="Look again every two seconds.")
@click.option("--filter", "terms", default="", metavar="TERMS",
              help="Only hosts that match, e.g. 'gpu.util<5 server.state=ready'.")  # fmt: skip
@click.option("--topology", "ways", is_flag=True, help="Show how GPUs reach each other instead.")
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    hosts: tuple[str, ...],
    *,
    again: bool,
    terms: str,
    ways: bool,
    as_json: bool,
) -> int:
    """Show GPUs, processes and servers of hosts; exit 3 when one is not reached.

    \b
    specctl status                       every host of the workspace
    specctl status gpu8 --json
    specctl status gpu8 --topology       NVLink and PCIe between its GPUs
    specctl status --filter 'gpu.util<5 label=blackwell !alert=any'
    """  # noqa: D301  click reads \b
    with contextlib.suppress(KeyboardInterrupt):
        if ways:
            if again or terms:
                raise UsageError("--topology goes with neither --watch nor --filter")
            return run(show_topology(invocation, hosts, as_json=as_json))
        wanted = _wanted(terms)
        return run(_status(invocation, hosts, wanted, again=again, as_json=as_json))
    return 0


def _wanted(terms: str) -> Filter:
    """The filter; UsageError with everything that is wrong with it."""
    found = filter_of(terms)
    if found.problems:
        raise UsageError(
            "; ".join(str(problem) for problem in found.problems),
            hint=f"fields: {' '.join(FIELDS)}",
        )
    return found


async def _status(
    invocation: Invocation, hosts: Sequence[str], wanted: Filter, *, again: bool, as_json: bool
) -> int:
    from specctl.services.alerting import excuse_measured, judge_at_once
    from specctl.services.readout import read_out
    from specctl.services.server_keys import keys_for

    async with fleet_of(invocation) as fleet:
        names = chosen_hosts(fleet.workspace, hosts)
        alerting = await judge_at_once(fleet)
        while True:
            await read_out(fleet, names, keys_for(fleet.workspace))
            await excuse_measured(fleet, alerting, names)
            now_s = fleet.clock.now()
            shown = [name for name in names if chooses(wanted, alerting.subject(name, now_s))]
            _write(fleet.store.state, shown, as_json=as_json, clear=again)
            if not again:
                _tell_left_out(fleet.store.state, [name for name in names if name not in shown])
                return exit_status(fleet, names)
            await fleet.clock.sleep(2.0)


def _tell_left_out(state: State, names: Sequence[str]) -> None:
    """Why the exit status is not 0 although all that is shown is well."""
    if lost := [name for name in names if state.host(name).link is not Link.UP]:
        warn(f"not reached, and left out by the filter: {', '.join(lost)}")


def _write(state: State, names: Sequence[str], *, as_json: bool, clear: bool) -> None:
    if as_json:
        found = Statuses({name: state.host(name) for name in names})
        write_json("status", plain(found), lines=clear)
        return
    lines = [line for name in names for line in (*host_lines(name, state.host(name)), "")]
    if not names:
        lines = ["no host matches the filter", ""]
    write((CLEAR if clear else "") + "\n".join(lines[:-1]))
