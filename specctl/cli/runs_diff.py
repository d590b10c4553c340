"""`specctl runs diff A B`: two runs held against each other."""

from __future__ import annotations

import click

from specctl.cli.compare_trial import open_ledger
from specctl.cli.diagnostics import say
from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.simulated import SHOWN
from specctl.cli.table import table
from specctl.domain.figures import UNKNOWN
from specctl.domain.host import Host
from specctl.domain.plain import plain
from specctl.domain.run_sheet import differences_of

CELL = 40


@click.command("diff", short_help="Hold two runs against each other.")
@click.argument("left", metavar="RUN|FILE")
@click.argument("right", metavar="RUN|FILE")
@json_option
def command(left: str, right: str, *, as_json: bool) -> None:
    """Hold two runs against each other: conditions, resolved arguments and figures that differ.

    specctl runs diff 5c0ffee2 0ddba11
    """
    from specctl.services.runs import find_evidence, sheet_of_run

    with open_ledger() as ledger:
        runs = [find_evidence(ledger, name).run for name in (left, right)]
    for run in runs:
        SHOWN.notice(Host(run.where, is_simulated=run.provenance.is_simulated))
    found = differences_of(*map(sheet_of_run, runs))
    if as_json:
        write_json("rundiff", plain(found))
        return
    if not found.rows:
        say("nothing that was kept differs")
        return
    names = [f"{run.kind.value} {run.id}" for run in runs]
    rows = [(one.kind, one.name, _cut(one.left), _cut(one.right)) for one in found.rows]
    for line in table(("what", "name", *names), rows):
        write(line)


def _cut(value: str | None) -> str:
    """One cell; `--json` has the whole."""
    if value is None:
        return UNKNOWN
    return value if len(value) <= CELL else value[: CELL - 1] + "…"
