"""`specctl probe HOST[/SERVER]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import say, warn
from specctl.cli.invocation import json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.probe_text import write_result
from specctl.cli.running import finder, fleet_of, keeper_of, run, say_kept, split_server
from specctl.domain.events import ProbeProgressed
from specctl.domain.probe_json import probe_json

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.events import Event
    from specctl.domain.probe import ProbeResult
    from specctl.domain.state import State
    from specctl.services.probing import Settings

BUNDLED = "chat, code, maths, mixed, novel, quote, repetition, soak, structured, tiny"
"""The workloads that come with specctl, for the help of those who take one."""


@click.command()
@click.argument("target", metavar="HOST[/SERVER]")
@click.option(
    "--workload", default="mixed", show_default=True, metavar="NAME|FILE",
    help=f"{BUNDLED}, or a JSONL file of prompts.",
)  # fmt: skip
@click.option(
    "--concurrency", type=click.IntRange(1, 1024), default=1, show_default=True, metavar="N",
    help="Requests at the same time.",
)  # fmt: skip
@click.option("--prompts", type=click.IntRange(1), metavar="N", help="At most so many prompts.")
@click.option("--warm", is_flag=True, help="Do not flush; a warm cache is wanted.")
@click.option(
    "--timeout", "timeout_s", type=float, default=600.0, show_default=True, metavar="SECONDS",
    help="For one request.",
)  # fmt: skip
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    target: str,
    *,
    workload: str,
    concurrency: int,
    prompts: int | None,
    warm: bool,
    timeout_s: float,
    as_json: bool,
) -> int:
    """Measure a running server: tok/s, accept length, first-token and inter-token times.

    Requests are sent from the host itself, once each, greedy unless the workload says otherwise.
    A result that must not be used says why, and ends with status 1.

    \b
    specctl probe gpu8
    specctl probe gpu8/7c1e --workload real.jsonl --concurrency 8
    """  # noqa: D301  click reads \b
    from specctl.adapters.workloads import read_workload
    from specctl.services.probing import Settings

    root = invocation.workspace().root
    settings = Settings(
        workload=read_workload(workload, root=root),
        concurrency=concurrency,
        accepts_warm=warm,
        most_prompts=prompts,
        timeout_s=timeout_s,
    )
    result = run(_probe(invocation, target, settings))
    if as_json:
        write_json("probe", probe_json(result))
    else:
        write(style(f"{target}  {result.profile or 'no profile'}", "bold"))
        write_result(result)
    for words in result.void:
        warn(f"void: {words}")
    if result.accept_length is not None and result.profile and not result.void:
        host = target.partition("/")[0]
        say(f"whether that pays: specctl cost {host} {result.profile}")
    return 1 if result.void else 0


async def _probe(invocation: Invocation, target: str, settings: Settings) -> ProbeResult:
    from specctl.services.choosing import the_server
    from specctl.services.host_reading import read_host
    from specctl.services.probing import probe_server
    from specctl.services.server_keys import keys_for

    host, name = split_server(target)
    async with fleet_of(invocation) as fleet:
        fleet.store.subscribe(Announcer().take)
        connection = await fleet.connect(host)
        server = the_server(await read_host(connection), host, name)
        keys = keys_for(fleet.workspace)(connection.host, server)
        result = await probe_server(
            connection, server, settings, store=fleet.store, clock=fleet.clock, keys=keys
        )
        keeper, profile = keeper_of(fleet), finder(fleet, host)(server.profile or "")
        kept = await keeper.keep_probe(
            connection,
            server,
            profile,
            workload=settings.workload,
            result=result,
            keys=keys,
        )
        say_kept(keeper, kept)
        return result


class Announcer:
    """Says what is going on, one line for each part of the probe."""

    def __init__(self) -> None:
        self._said = ""

    def take(self, event: Event, _state: State) -> None:
        """Say what a new part of a probe is."""
        if isinstance(event, ProbeProgressed) and event.words != self._said:
            self._said = event.words
            say(f"{event.words} ({event.total} requests)")
