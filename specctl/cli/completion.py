"""`specctl completion bash|zsh|fish`."""

from __future__ import annotations

import os
from importlib import resources

import click

from specctl.cli.diagnostics import say
from specctl.cli.output import write
from specctl.domain.errors import UsageError

SHELLS = ("bash", "zsh", "fish")
INSTALLS = {
    "bash": 'add to ~/.bashrc:  eval "$(specctl completion bash)"',
    "zsh": 'add to ~/.zshrc:  eval "$(specctl completion zsh)"',
    "fish": "specctl completion fish > ~/.config/fish/completions/specctl.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False, metavar="[bash|zsh|fish]")
def command(shell: str | None) -> None:
    """Print tab completion for a shell; without one named, for the shell you are in.

    It knows commands, options, hosts, profiles, kept runs, algorithms of trees that were looked at,
    workloads, and the lab's scenarios and faults. No host is asked for it.

    \b
    eval "$(specctl completion bash)"        in ~/.bashrc
    eval "$(specctl completion zsh)"         in ~/.zshrc
    specctl completion fish > ~/.config/fish/completions/specctl.fish
    """  # noqa: D301  click reads \b
    from specctl.cli.completing import the_shape

    shell = shell or os.path.basename(os.environ.get("SHELL", ""))
    if shell not in SHELLS:
        raise UsageError(
            f"there is no completion for {shell or 'a shell that SHELL does not name'}",
            hint=f"specctl completion {'|'.join(SHELLS)}",
        )
    write(resources.files("specctl").joinpath(f"completions/specctl.{shell}").read_text("utf-8"))
    the_shape()  # so that the first tab need not read the commands
    if os.isatty(1):
        say(f"to keep it, {INSTALLS[shell]}")
