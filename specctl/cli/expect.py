"""`specctl expect HOST[/SERVER]|RUN…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli.compare_trial import open_ledger
from specctl.cli.invocation import json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.simulated import SHOWN
from specctl.cli.table import table
from specctl.domain.expecting import Met, report
from specctl.domain.figures import UNKNOWN, fixed
from specctl.domain.host import Host
from specctl.domain.plain import plain

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.expecting import Expected

NOT_MET = 5
HEADERS = ("host", "profile", "expects", "at-least", "measured", "interval", "run", "")
COLOURS = {Met.MET: "green", Met.MISSED: "red"}


@click.command()
@click.argument("places", nargs=-1, required=True, metavar="HOST[/SERVER]|RUN...")
@click.option(
    "--concurrency", type=click.IntRange(1, 1024), metavar="N",
    help="What was measured there; else the first of each run.",
)  # fmt: skip
@json_option
@click.pass_obj
def command(
    invocation: Invocation, places: tuple[str, ...], *, concurrency: int | None, as_json: bool
) -> int:
    """Hold what was measured against what profiles expect: exit status 0, or 5 when it is missed.

    Nothing is measured: of a host the newest runs of the ledger count. A speedup is met when its
    whole interval is above the expected one. What was not measured, or measured before the
    profile was changed, is not met.

    \b
    specctl expect gpu8
    specctl expect gpu8/7c1e 5c0f --json
    """  # noqa: D301  click reads \b
    from specctl.services.expecting import expect_at

    workspace = invocation.workspace()
    with open_ledger() as ledger:
        rows = [
            row
            for place in places
            for row in expect_at(ledger, workspace, place, concurrency=concurrency)
        ]
    for host in dict.fromkeys(row.host for row in rows if row.host in workspace.hosts()):
        workspace.host(host)
    for row in rows:
        SHOWN.notice(Host(row.host, is_simulated=row.simulated))
    found = report(rows)
    if as_json:
        write_json("expect", plain(found))
    else:
        for line in table(HEADERS, map(_row, found.rows), right="at-least measured"):
            write(line)
        write()
        words = "Met." if found.is_met else "Not met."
        write(style(words, "bold", "green" if found.is_met else "red"))
    return 0 if found.is_met else NOT_MET


def _row(row: Expected) -> tuple[str, ...]:
    interval = ""
    if row.low is not None and row.high is not None:
        interval = f"{row.low:.3f} to {row.high:.3f}"
    met = style(row.met.value, *([COLOURS[row.met]] if row.met in COLOURS else []))
    return (
        row.host,
        row.profile,
        row.figure.replace("_", " "),
        fixed(row.expected, 2),
        fixed(row.measured, 2),
        interval,
        row.run or UNKNOWN,
        f"{met}: {row.words}" if row.words else met,
    )
