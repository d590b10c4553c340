"""The headless front end: one table of commands, each imported when it is called."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import click

from specctl import __version__
from specctl.adapters.ledger_notice import listen
from specctl.cli import diagnostics
from specctl.cli.cut_short import report_early_end
from specctl.cli.invocation import Invocation
from specctl.cli.simulated import SHOWN
from specctl.cli.streams import OutputLostError, discard, find_lost, flush_output
from specctl.domain.errors import SpecctlError, UsageError
from specctl.domain.file_trouble import FULL, next_step
from specctl.domain.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Entry:
    """One command: the module of `specctl.cli` whose `command` it is, and what help says of it."""

    module: str
    help: str


COMMANDS: dict[str, dict[str, Entry]] = {
    "workspace": {
        "init": Entry("init", "Write a commented workspace with examples."),
        "add": Entry("add", "Connect to a host, examine it, and write its file."),
        "trust": Entry("trust", "Show a host's key, and write it to known_hosts if you agree."),
        "hosts": Entry("hosts", "List the hosts of the workspace, without asking one."),
        "profiles": Entry("profiles", "List the profiles, with what check makes of each."),
        "import": Entry("importer", "Make a profile of a launch command or script."),
        "show": Entry("show", "Print a profile complete: values, origins, command line."),
        "check": Entry("check", "Find contradictions in profiles and mistakes in files."),
        "completion": Entry("completion", "Print the tab completion of bash, zsh or fish."),
        "schema": Entry("schema", "Print the JSON Schema of what specctl reads or prints."),
    },
    "hosts": {
        "doctor": Entry("doctor", "Check everything a host needs, one row each."),
        "status": Entry("status", "Show GPUs, processes and servers of hosts."),
        "alerts": Entry("alerts", "Say what is wrong on hosts and servers."),
        "inspect": Entry("inspection", "Read what a host's SGLang can do, without importing it."),
        "source": Entry("source", "Print or search files of a host's SGLang."),
        "checkpoint": Entry("checkpoint", "Check a draft beside its target by its small files."),
        "drift": Entry("drift", "Compare what runs with its profile and with what is installed."),
        "watch": Entry("watch", "Print what happens on hosts as it happens."),
        "web": Entry("web", "Serve the screen to a browser, read-only unless asked."),
        "record": Entry("record", "Write what happens on hosts into a file."),
    },
    "servers": {
        "start": Entry("start", "Start a server from a profile, and follow it until ready."),
        "stop": Entry("stop", "Stop a server, and prove that it is gone."),
        "adopt": Entry("adopt", "Take a running server under care."),
        "server": Entry("server", "Flush, abort, thresholds and n-gram corpora of a server."),
        "logs": Entry("logs", "Print a server's log."),
        "forward": Entry("forward", "Open a server's API on a local port."),
    },
    "evidence": {
        "probe": Entry("probe", "Measure a running server."),
        "cost": Entry("cost", "Say what steps cost, and what they have to bring for that."),
        "compare": Entry("compare", "Start, probe and stop profiles in turn, on one host."),
        "expect": Entry("expect", "Hold what was measured against what profiles expect."),
        "forecast": Entry("forecast", "Predict n-gram drafts from answers given before."),
        "advise": Entry("advise", "Say which draft length to try next, from trials."),
        "breakeven": Entry("breakeven", "Say what pays, from numbers typed in."),
    },
    "results": {
        "runs": Entry("runs", "List, show, recompute and export what was measured."),
        "commands": Entry("commands", "List what was done on hosts, with exact command lines."),
        "replay": Entry("replay", "Show a recording on the screens, or print it."),
    },
    "help": {
        "support": Entry("support", "Make a bug report without names and secrets."),
    },
    "practice": {
        "lab": Entry("lab", "Bring up practice GPU hosts on this machine: SIMULATED."),
    },
}
"""Sections in the order of the help text; a new command needs one line here.

Its module defines `command: click.Command`; `@click.pass_obj` gives it the Invocation.
"""


class Commands(click.Group):
    """Subcommands that are imported only when called, so that help costs nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of the table."""
        return [name for section in COMMANDS.values() for name in section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command called `cmd_name`, imported now."""
        for section in COMMANDS.values():
            if cmd_name in section:
                module = import_module(f"specctl.cli.{section[cmd_name].module}")
                command: click.Command = module.command
                command.name = cmd_name
                return command
        return None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the nearest name for one that does not exist."""
        if args and not args[0].startswith("-") and args[0] not in self.list_commands(ctx):
            close = nearest(args[0], self.list_commands(ctx))
            also = f"; nearest: {close}" if close else ""
            raise click.UsageError(f"no command called {args[0]}{also}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table itself, without importing a command."""
        for title, section in COMMANDS.items():
            with formatter.section(title.capitalize()):
                formatter.write_dl([(name, entry.help) for name, entry in section.items()])


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Without a command, in a terminal, specctl opens its screen.",
)
@click.version_option(__version__, "-V", "--version", message="specctl %(version)s")
@click.option(
    "-C", "--workspace", "chosen", metavar="DIR", envvar="SPECCTL_WORKSPACE",
    help="The workspace; else the nearest directory upwards with remotes/.",
)  # fmt: skip
@click.option("--read-only", is_flag=True, help="Refuse everything that would change a host.")
@click.pass_context
def cli(ctx: click.Context, chosen: str | None, *, read_only: bool) -> None:
    """Operate speculative decoding with SGLang on GPU hosts reached over SSH."""
    ctx.obj = Invocation(chosen, read_only)
    if ctx.invoked_subcommand is None:
        raise _no_screen()


def _no_screen() -> UsageError:
    """Why the screen was not opened, with what prints the same."""
    if sys.stdin.isatty() and sys.stdout.isatty():
        return UsageError(
            f"the screen needs a terminal that can draw, and TERM is {os.environ.get('TERM')}",
            hint="specctl status and specctl watch print what it shows; where the terminal can "
            "draw all the same: TERM=xterm-256color specctl",
        )
    return UsageError("the screen needs a terminal, and no command is given", hint="specctl --help")


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line; returns the exit status."""
    SHOWN.forget()
    listen(diagnostics.say)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        status = cli.main(list(arguments), prog_name="specctl", standalone_mode=False)
        flush_output()
    except (SpecctlError, click.ClickException, click.Abort, KeyboardInterrupt) as error:
        cause = error.__cause__
        if isinstance(error, click.Abort) and isinstance(cause, EOFError):  # Ctrl-D has no cause
            return report_early_end(cause)
        return diagnostics.report(error)
    except (OSError, OutputLostError, BaseExceptionGroup) as error:
        lost = find_lost(error)
        if lost is not None:
            return end_without_output(lost)
        if not isinstance(error, OSError) or not (error.filename or error.errno in FULL):
            raise
        where = error.filename or "a file could not be written"
        diagnostics.fail(f"{where}: {error.strerror}", hint=next_step(error))
        return 1
    return status if isinstance(status, int) else 0


def end_without_output(lost: OutputLostError) -> int:
    """A reader that has seen enough is no failure."""
    discard(sys.stdout)
    if lost.is_reader_gone:
        return 0
    diagnostics.fail(f"standard output cannot be written to: {lost}")
    return 1
