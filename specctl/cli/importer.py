"""`specctl import NAME FILE|-`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

import click

from specctl.adapters import paths
from specctl.adapters.importing import draft_from_any
from specctl.cli import diagnostics
from specctl.cli.output import write
from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation

MAX_CHARACTERS = 1 << 20


@click.command()
@click.argument("name")
@click.argument("file", metavar="FILE|-", type=click.File(encoding="utf-8-sig", errors="replace"))
@click.pass_obj
def command(invocation: Invocation, name: str, file: TextIO) -> None:
    """Make the profile NAME of a launch command or script; - is standard input.

    Understood: command lines with variables in front, bash scripts, docker run, compose files,
    Kubernetes manifests and systemd units. Nothing in them is run.

    \b
    specctl import mine launch.sh
    ssh gpu8 cat launch.sh | specctl import mine -
    """  # noqa: D301  click reads \b
    workspace = invocation.workspace()
    text = file.read(MAX_CHARACTERS + 1)
    if len(text) > MAX_CHARACTERS:
        raise UsageError("that is too much for a launch script", hint="Give the script alone.")
    draft = draft_from_any(text)
    path = workspace.write_profile(name, draft.values, comments=draft.comments)
    for remark in draft.remarks:
        diagnostics.say(remark)
    for secret, stood in draft.secrets.items():
        diagnostics.warn(f"{stood} holds a secret: not written, named secret:{secret} instead")
    if draft.secrets:
        diagnostics.say(f"say where to find them in {paths.short(paths.secrets_file())}:")
        for secret in draft.secrets:
            diagnostics.say(f'  {secret} = {{ env = "VARIABLE" }}')
    write(paths.short(path))
    diagnostics.say(f"next: specctl check {name}")
