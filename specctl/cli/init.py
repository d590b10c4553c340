"""`specctl init [DIR]`."""

from __future__ import annotations

from pathlib import Path

import click

from specctl.adapters.examples import write_workspace
from specctl.cli import diagnostics
from specctl.cli.output import write


@click.command()
@click.argument("directory", default=".", metavar="[DIR]", type=click.Path(path_type=Path))
def command(directory: Path) -> None:
    """Write a commented workspace: remotes/, profiles/ and the schemas for editors.

    Refuses when any of its files exists already.

    \b
    specctl init                         in this directory
    specctl init ops
    """  # noqa: D301  click reads \b
    for path in write_workspace(directory):
        write(str(path))
    edit = "or edit remotes/example-8gpu.toml"
    diagnostics.say(f"next: specctl add SSH_ALIAS, {edit}; then specctl check")
