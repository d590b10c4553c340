"""`specctl support [HOST…]`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from specctl.cli import diagnostics
from specctl.cli.invocation import yes_option
from specctl.cli.output import write
from specctl.cli.running import confirm, fleet_of, run
from specctl.domain.errors import SpecctlError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specctl.adapters.workspace import Workspace
    from specctl.cli.invocation import Invocation
    from specctl.services.support import Asked, SupportReport

HEAD = "What happened, and what should have happened instead:\n\n(write it here)\n"


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write there, after it was shown; else print it.",
)  # fmt: skip
@yes_option
@click.pass_obj
def command(
    invocation: Invocation, hosts: tuple[str, ...], output: Path | None, *, yes: bool
) -> None:
    """Make a bug report without names and secrets; nothing is sent anywhere.

    Versions, terminal, workspace problems, the ledger's version and last outcomes; for each HOST
    named what doctor says, and what happened while it was asked. Secrets, hosts, users, addresses
    and home directories become placeholders, the same name the same one.

    \b
    specctl support                      of this machine alone; no host is asked
    specctl support gpu8 -o report.md
    """  # noqa: D301  click reads \b
    workspace, trouble = _workspace(invocation)
    report = _report(invocation, workspace, trouble, hosts)
    text = "\n".join(_markdown(report))
    if output is None:
        write(text)
        diagnostics.say(_replaced(report))
        return
    diagnostics.show(text)
    diagnostics.say(_replaced(report))
    if output.exists():
        raise UsageError(f"{output} exists already", hint="Name another file with -o.")
    if not confirm(f"Write this to {output}?", yes=yes, default=True):
        raise click.Abort
    try:
        output.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror or error}") from error
    diagnostics.say(f"{output}: read it once more before you hand it on; nothing was sent")


def _workspace(invocation: Invocation) -> tuple[Workspace | None, str]:
    """A report is wanted where there is none, too."""
    try:
        return invocation.workspace(), ""
    except SpecctlError as error:
        return None, error.message


def _report(
    invocation: Invocation, workspace: Workspace | None, trouble: str, hosts: Sequence[str]
) -> SupportReport:
    from specctl.services.support import NOBODY, describe_here, redact

    if hosts and workspace is None:
        raise UsageError(trouble, hint="Without HOST it needs no workspace.")
    here = describe_here(workspace, trouble)
    asked = run(_ask(invocation, hosts)) if hosts else NOBODY
    return redact(here, workspace, asked)


async def _ask(invocation: Invocation, hosts: Sequence[str]) -> Asked:
    from specctl.services.support import describe_hosts

    async with fleet_of(invocation) as fleet:
        for name in hosts:
            fleet.workspace.host(name)
        return await describe_hosts(fleet, hosts)


def _markdown(report: SupportReport) -> Iterator[str]:
    """Fenced, so that no line of it is taken for markup."""
    yield f"# specctl report\n\n{HEAD}"
    for section in report.sections:
        longest = max((_ticks(line) for line in section.lines), default=0)
        fence = "`" * max(3, longest + 1)
        yield f"## {section.title}\n\n{fence}"
        yield from section.lines or ("nothing",)
        yield f"{fence}\n"


def _ticks(line: str) -> int:
    """The longest run of backticks."""
    longest = run_of = 0
    for char in line:
        run_of = run_of + 1 if char == "`" else 0
        longest = max(longest, run_of)
    return longest


def _replaced(report: SupportReport) -> str:
    words = ", ".join(f"{count} {kind}(s)" for kind, count in report.replaced)
    return f"replaced by placeholders: {words or 'nothing'}"
