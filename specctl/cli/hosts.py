"""`specctl hosts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import say
from specctl.cli.invocation import json_option
from specctl.cli.output import write, write_json
from specctl.cli.simulated import SHOWN, WORD
from specctl.cli.table import table
from specctl.domain.listed import HostList, list_host
from specctl.domain.plain import plain
from specctl.domain.text import clean

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.listed import ListedHost

HEADERS = ("host", "reached by", "labels", "notes")


@click.command()
@json_option
@click.pass_obj
def command(invocation: Invocation, *, as_json: bool) -> None:
    """List the hosts of the workspace as their files describe them; none is asked.

    \b
    specctl hosts
    specctl hosts --json
    """  # noqa: D301  click reads \b
    hosts = tuple(invocation.workspace().hosts().values())
    for host in hosts:
        SHOWN.notice(host)
    listed = HostList(tuple(list_host(host) for host in hosts))
    if as_json:
        write_json("hosts", plain(listed))
        return
    if not hosts:
        say("no host yet: specctl add SSH_ALIAS, or practice ones: specctl lab up")
        return
    for line in table(HEADERS, map(_row, listed.hosts)):
        write(line)


def _row(row: ListedHost) -> tuple[str, ...]:
    labels = " ".join(f"{key}={value}" for key, value in row.labels.items())
    marks = [f"({WORD})"] * row.simulated + ["(read-only)"] * row.read_only
    notes = " ".join(row.notes.split())
    return (" ".join([row.name, *marks]), clean(row.reached), clean(labels), clean(notes))
