"""`specctl lab demo`: the lab is brought up for a story, and taken down after it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specctl.adapters.foreground import run_in_foreground
from specctl.cli.diagnostics import INTERRUPTED
from specctl.cli.output import style, write
from specctl.cli.running import run
from specctl.cli.story import PROMPTS, chapters, short_prompts
from specctl.domain.errors import NotMetError, RemoteFailedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MARK = "this-is-a-demo-of-specctl"
"""A file that says that the folder may be removed with everything in it."""

OWN = {
    "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache",
    "SPECCTL_WORKSPACE": "workspace",
}  # fmt: skip
"""Where specctl keeps its files, and where in the demo's folder that is."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A folder of its own that the story plays in."""

    folder: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """Of every command of the story: nothing is written outside the folder."""
        return {**os.environ, **{name: str(self.folder / part) for name, part in OWN.items()}}

    @property
    def models(self) -> Path:
        """Where the practice hosts have their models."""
        return self.folder / OWN["XDG_STATE_HOME"] / "specctl/lab/models"

    def make(self) -> None:
        """An empty workspace; what an earlier demo left is removed."""
        self.remove()
        try:
            self.folder.mkdir(parents=True)
        except FileExistsError:
            raise UsageError(
                f"{self.folder} is there already", hint="Name a folder that can be made."
            ) from None
        (self.folder / MARK).touch()
        workspace = self.folder / OWN["SPECCTL_WORKSPACE"]
        for part in ("remotes", "profiles"):
            (workspace / part).mkdir(parents=True)
        (workspace / PROMPTS).write_text(short_prompts(), encoding="utf-8")

    def remove(self) -> None:
        """The folder, where it is a demo's."""
        if (self.folder / MARK).exists():
            shutil.rmtree(self.folder)

    def run(self, words: Sequence[str], **more: str) -> int:
        """One command of specctl, on this terminal; returns its exit status."""
        argv = [sys.executable, "-m", "specctl", *words]
        return run(run_in_foreground(argv, {**self.environment, **more}))


@click.command()
@click.argument("directory", default=".demo", metavar="[DIR]", type=click.Path(path_type=Path))
@click.option("--print", "is_printed", is_flag=True, help="Print the story also in a terminal.")
def command(directory: Path, *, is_printed: bool) -> int:
    """Play the lab's story: on the screen, or printed where there is no terminal.

    Everything is kept in DIR, which is removed in the end; nothing goes on running.

    \b
    specctl lab demo
    specctl lab demo --print
    """  # noqa: D301  click reads \b
    stage = Stage(directory.absolute())
    stage.make()
    try:
        told("The lab: a practice host behind a real SSH server on this machine.", ("lab", "up"))
        if stage.run(("lab", "up")):
            raise RemoteFailedError("the lab did not come up")
        has_screen = sys.stdin.isatty() and sys.stdout.isatty()
        if has_screen and not is_printed:
            return stage.run((), SPECCTL_GUIDE="lab")
        return print_story(stage)
    finally:
        stage.run(("lab", "down"))
        stage.remove()


def print_story(stage: Stage) -> int:
    """Every chapter, its command and what that says."""
    for chapter in chapters(stage.models):
        told(chapter.words, chapter.command)
        status = stage.run(chapter.command)
        if status == INTERRUPTED:
            return status
        if status not in chapter.ends_with:
            line = shlex.join(("specctl", *chapter.command))
            raise NotMetError(
                f"{line} ended with {status}", hint="The story expects something else."
            )
    return 0


def told(words: str, command: Sequence[str]) -> None:
    """What comes next, and the command that shows it."""
    write()
    write(style(words, "bold"))
    write(style(f"$ {shlex.join(('specctl', *command))}", "cyan"))
