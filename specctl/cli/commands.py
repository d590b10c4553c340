"""`specctl commands`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import say
from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.simulated import SHOWN
from specctl.cli.table import table
from specctl.domain.figures import fixed
from specctl.domain.host import Host
from specctl.domain.plain import plain
from specctl.domain.remote_command import CommandList
from specctl.domain.text import clean, shorten

if TYPE_CHECKING:
    from specctl.domain.remote_command import RemoteCommand

HEADERS = ("when", "host", "", "what", "outcome", "s", "about")
ABOUT_CELLS = 120


@click.command()
@click.option("--of", "of_host", metavar="HOST", help="On this host only.")
@click.option("--changes", is_flag=True, help="Only what changed something, or might have.")
@click.option(
    "-n", "most", type=click.IntRange(1, 100_000), default=50, show_default=True, metavar="N",
    help="At most so many, the last ones.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Print exact command lines, one a line.")
@json_option
def command(*, of_host: str | None, changes: bool, most: int, full: bool, as_json: bool) -> None:
    """List what specctl did on hosts: command lines, outcomes, times; secrets are masked.

    Of reads that are done again and again the first of each run is kept, and any that ended
    differently. Changes are marked with *.

    \b
    specctl commands --changes
    specctl commands --of gpu8 --full -n 10
    """  # noqa: D301  click reads \b
    from specctl.adapters.command_log import read_file
    from specctl.adapters.paths import command_file, short

    file = command_file()
    kept = [
        one
        for one in read_file(file)
        if of_host in {None, one.host} and (one.changes or not changes)
    ][-most:]
    for one in kept:
        SHOWN.notice(Host(one.host, is_simulated=one.simulated))
    if as_json:
        write_json("commands", plain(CommandList(tuple(kept), short(file))))
    elif not kept:
        say(f"nothing is kept yet in {short(file)}")
    elif full:
        for one in kept:
            write(clean(one.line))
    else:
        for line in table(HEADERS, map(_row, kept)):
            write(line)


def _row(one: RemoteCommand) -> tuple[str, ...]:
    when = datetime.fromtimestamp(one.time_s).astimezone().strftime("%m-%d %H:%M:%S")
    about = shorten(clean(one.brief), ABOUT_CELLS)
    mark = "*" if one.changes else ""
    return (when, one.host, mark, one.what, clean(one.outcome), fixed(one.elapsed_s, 2), about)
