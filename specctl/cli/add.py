"""`specctl add SSH_ALIAS`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.doctor import write_rows
from specctl.cli.output import write
from specctl.cli.running import confirm, fleet_of, is_interactive, run
from specctl.cli.trust import trust
from specctl.domain.errors import HostKeyUnknownError, NotMetError, UsageError
from specctl.domain.host import Host

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.server import Server
    from specctl.services.adding import Found

TRUST_FIRST = "Compare the fingerprint with its owner's, then add it at a terminal, or with --yes."
"""`specctl trust` needs the host's file, which is not written yet."""


@click.command()
@click.argument("alias", metavar="SSH_ALIAS")
@click.option("--name", metavar="NAME", help="What to call the host; else its alias.")
@click.option("--local", is_flag=True, help="This machine itself; SSH_ALIAS is only its name.")
@click.option(
    "--python", metavar="PATH", help="The interpreter that has SGLang; else it is looked for."
)
@click.option(
    "--yes", "-y", is_flag=True,
    help="Do not ask, and trust a new host key; needed without a terminal.",
)  # fmt: skip
@click.pass_obj
def command(
    invocation: Invocation, alias: str, *, name: str | None, local: bool, python: str | None,
    yes: bool,
) -> int:  # fmt: skip
    """Connect to a host, examine it, write its file, and offer to adopt what runs there.

    \b
    specctl add gpu8                     an alias of your ssh configuration
    specctl add here --local             this machine
    specctl add gpu8 --python /opt/sglang/bin/python

    Without a workspace, the file is written to one in your configuration directory.
    """  # noqa: D301  click reads \b
    workspace = invocation.workspace_to_add_to()
    host_name = name or alias
    if host_name in workspace.hosts():
        file = workspace.host(host_name).file
        raise UsageError(
            f"host {host_name} is there already: {file}",
            hint="Change that file or remove it; or give another name with --name NAME.",
        )
    host = Host(
        host_name,
        ssh=None if local else alias,
        transport="local" if local else "ssh",
        python=python,
    )
    found = _reach(host, yes=yes)
    write_rows(host_name, found.rows)
    if not found.is_usable:
        raise NotMetError(
            f"host {host_name} cannot be used yet; nothing was written",
            hint="The arrows above say what to do; then once more.",
        )
    path = workspace.write_host(found.host, comments=found.comments)
    diagnostics.say(f"written: {path}")
    _offer_to_adopt(invocation, host_name, found.servers, yes=yes)
    diagnostics.say(f"next: specctl, or specctl watch {host_name}")
    return 0


def _reach(host: Host, *, yes: bool) -> Found:
    from specctl.services.adding import look_over

    try:
        return run(look_over(host))
    except HostKeyUnknownError as error:
        if not (yes or is_interactive()):
            raise HostKeyUnknownError(error.message, hint=TRUST_FIRST) from error
        trust(host, yes=yes)
        return run(look_over(host))


def _offer_to_adopt(
    invocation: Invocation, host: str, servers: tuple[Server, ...], *, yes: bool
) -> None:
    """Adopting is never implied by --yes: it puts somebody's server under care."""
    for server in servers:
        has_ended = not server.pids or server.evidence.process_alive is False
        if server.is_ours or server.identity is None or has_ended:
            continue
        pid = server.identity.pid
        port = f" on port {server.port}" if server.port else ""
        words = f"pid {pid} serves {server.model or 'a model'}{port}"
        if yes or not is_interactive():
            diagnostics.say(f"{words}; specctl adopt {host} {pid} puts it under care")
        elif confirm(f"{words}. Adopt it, so that specctl may stop it?", yes=False):
            run(_adopt(invocation, host, pid))


async def _adopt(invocation: Invocation, host: str, pid: int) -> None:
    from specctl.services.adoption import adopt_pid

    async with fleet_of(invocation) as fleet:
        record = await adopt_pid(await fleet.connect(host), pid)
        write(f"{host}/{record.name}")
