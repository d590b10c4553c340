"""`specctl schema [NAME]`."""

from __future__ import annotations

import click

from specctl.cli.documents import DOCUMENTS, FILES, SCHEMAS
from specctl.cli.output import write, write_plain_json
from specctl.cli.table import table


@click.command()
@click.argument("name", required=False, type=click.Choice(sorted(SCHEMAS)), metavar="[NAME]")
def command(name: str | None) -> None:
    """Print the JSON Schema of what specctl reads or prints; without a NAME, list them.

    Editors use those of profile and remote for completion and checks as you type: with taplo, a
    first line `#:schema PATH` in the file names it.

    \b
    specctl schema status
    specctl schema profile > schema/profile.json
    """  # noqa: D301  click reads \b
    if name is not None:
        write_plain_json(SCHEMAS[name]())
        return
    rows = [[kind, words, "what you write"] for kind, words in FILES.items()]
    rows += [[one.name, one.words, one.source] for one in DOCUMENTS.values()]
    for line in table(["NAME", "WHAT", "WHERE"], rows):
        write(line)
