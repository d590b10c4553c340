"""`specctl record FILE [HOST…]`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import say, warn
from specctl.cli.invocation import Seconds
from specctl.cli.output import write
from specctl.cli.running import chosen_hosts, exit_status, fleet_of, run
from specctl.domain.errors import SpecctlError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.adapters.recording import RecordingFile
    from specctl.cli.invocation import Invocation

MIB = 1 << 20


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option("--for", "for_s", type=Seconds(0, None), metavar="SECONDS", help="End after so long.")
@click.option("--interval", "interval_s", type=Seconds(0.1, 3600), default=1.0,
              show_default=True, metavar="SECONDS", help="Between samples.")  # fmt: skip
@click.option("--most", "most_mib", type=click.IntRange(1, 1 << 20), default=512,
              show_default=True, metavar="MIB", help="End when the file is so large.")  # fmt: skip
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path,
    hosts: tuple[str, ...],
    *,
    for_s: float | None,
    interval_s: float,
    most_mib: int,
) -> int:
    """Write what happens on hosts into FILE, for `specctl replay`.

    With the lines of the servers' logs, and without any secret: it can be sent along with a report.
    Every line is one that `watch --json --logs` would print. Ctrl-C ends it.

    \b
    specctl record slow.jsonl gpu8 --for 600
    specctl record all.jsonl
    """  # noqa: D301  click reads \b
    made: list[RecordingFile] = []
    status = 0
    with contextlib.suppress(KeyboardInterrupt):
        work = _record(
            invocation, file, hosts,
            for_s=for_s, interval_s=interval_s, most_bytes=most_mib * MIB, made=made,
        )  # fmt: skip
        status = run(work)
    for one in made:
        if one.is_full:
            warn(f"ended early: {file} holds the {most_mib} MiB that --most allows")
        write(str(file))
        say(f"{one.events:,} events, {one.bytes_written / MIB:.1f} MiB")
        say(f"next: specctl replay {file}")
        if one.failure:
            raise SpecctlError(
                f"{file} cannot be written any more: {one.failure}",
                hint="What was written before is whole.",
            )
    return status


async def _record(
    invocation: Invocation,
    file: Path,
    hosts: Sequence[str],
    *,
    for_s: float | None,
    interval_s: float,
    most_bytes: int,
    made: list[RecordingFile],
) -> int:
    from specctl.services.recording import begin_recording, record
    from specctl.services.server_keys import keys_for

    async with fleet_of(invocation) as fleet:
        names = chosen_hosts(fleet.workspace, hosts)
        one = begin_recording(fleet, names, file, interval_s=interval_s, most_bytes=most_bytes)
        made.append(one)
        say(f"recording {', '.join(names)}; Ctrl-C ends it")
        keys = keys_for(fleet.workspace)
        await record(fleet, names, one, interval_s=interval_s, for_s=for_s, keys=keys)
        return exit_status(fleet, names)
