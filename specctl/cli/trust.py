"""`specctl trust HOST`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.invocation import yes_option
from specctl.cli.output import write
from specctl.cli.running import confirm, run
from specctl.domain.errors import UsageError

if TYPE_CHECKING:
    from specctl.adapters.trust import OfferedKey
    from specctl.cli.invocation import Invocation
    from specctl.domain.host import Host


@click.command()
@click.argument("host")
@yes_option
@click.pass_obj
def command(invocation: Invocation, host: str, *, yes: bool) -> None:
    """Show the key a host offers beside the known ones, and write it to known_hosts if you agree.

    \b
    specctl trust gpu8
    """  # noqa: D301  click reads \b
    trust(invocation.workspace().host(host), yes=yes)


def trust(host: Host, *, yes: bool) -> None:
    """Ask for each hop that is not trusted yet, the outermost first."""
    from specctl.adapters.trust import fetch_host_key, write_known_host

    if host.transport == "local":
        raise UsageError(f"host {host.name} is this machine; it has no key")
    asked: set[str] = set()
    while True:
        offered = run(fetch_host_key(host))
        write(_describe(offered))
        if offered.is_known and not offered.is_revoked:
            return
        if offered.fingerprint in asked:
            raise UsageError(f"{offered.label}: the key that was written is not found again")
        asked.add(offered.fingerprint)
        if not (offered.others or offered.is_revoked) and not confirm(
            "Compare the fingerprint with the machine's own. Trust it?", yes=yes
        ):
            raise UsageError("nothing was written")
        write_known_host(offered)
        diagnostics.say(f"written to {offered.file}: {offered.spelled}")


def _describe(offered: OfferedKey) -> str:
    state = "revoked" if offered.is_revoked else "known" if offered.is_known else "not known"
    lines = [f"{offered.label}  {offered.spelled}",
             f"  offered  {offered.algorithm} {offered.fingerprint}  {state}"]  # fmt: skip
    lines += [f"  known    {other}" for other in offered.others]
    return "\n".join(lines)
