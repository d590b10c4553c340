"""`specctl lab demo`: the lab is brought up for a story, and taken down after it."""

from __future__ import annotations

import contextlib
import fcntl
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
from specctl.cli.story import FOREIGN, NGRAM, PROMPTS, TRAINED, UP, chapters, ending, short_prompts
from specctl.domain.errors import NotMetError, RefusedError, RemoteFailedError, UsageError
from specctl.domain.runs import RunKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specctl.domain.runs import Run

MARK = "this-is-a-demo-of-specctl"
"""A file that says that the folder may be removed with everything in it."""

OWN = {
    "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state", "XDG_CACHE_HOME": "cache",
    "SPECCTL_WORKSPACE": "workspace",
}  # fmt: skip
"""Where specctl keeps its files, and where in the demo's folder that is."""


LAB = (
    "The lab: a practice host behind a real SSH server on this machine. Its servers load in a "
    "second, which no real one does; what a step costs is as it is."
)


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

    def trial_of(self, profile: str) -> Run:
        """The newest trial of a profile; raises NotMetError where there is none."""
        from specctl.adapters.ledger import Ledger

        ledger = Ledger(self.folder / OWN["XDG_STATE_HOME"] / "specctl/ledger.db")
        try:
            found = ledger.runs(profile=profile, kind=RunKind.TRIAL, most=1)
        finally:
            ledger.close()
        if not found:
            raise NotMetError(f"{profile} was not tried", hint="The story expects a trial of it.")
        return found[0]

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """An empty workspace, this demo's alone until it ends, and removed then."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._held():
            self.remove()
        self.make()
        with self._held():
            try:
                yield
            finally:
                self.run(("lab", "down"))
                self.remove()

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        with (self.folder / MARK).open("rb") as mark:
            try:
                fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RefusedError(
                    f"another demo is being played in {self.folder}",
                    hint="End it first, or name a folder of its own: specctl lab demo DIR",
                ) from None
            yield

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
    with stage.made():
        told(LAB, UP)
        if stage.run(UP):
            raise RemoteFailedError("the lab did not come up")
        has_screen = sys.stdin.isatty() and sys.stdout.isatty()
        if has_screen and not is_printed:
            return stage.run((), SPECCTL_GUIDE="lab")
        return print_story(stage)


def print_story(stage: Stage) -> int:
    """Every chapter, its command and what that says; then what was shown."""
    for chapter in chapters(stage.models):
        command = chapter.command
        if chapter.trial_of:
            trial = stage.trial_of(chapter.trial_of).id
            command = tuple(trial if word == "{trial}" else word for word in command)
        told(chapter.words, command)
        status = stage.run(command)
        if status == INTERRUPTED:
            return status
        if status not in chapter.ends_with:
            raise NotMetError(
                f"{shlex.join(('specctl', *command))} ended with {status}",
                hint="The story expects something else.",
            )
    write()
    for words in ending({name: stage.trial_of(name).outcome for name in (FOREIGN, NGRAM, TRAINED)}):
        write(style(words, "bold"))
    return 0


def told(words: str, command: Sequence[str]) -> None:
    """What comes next, and the command that shows it."""
    write()
    write(style(words, "bold"))
    write(style(f"$ {shlex.join(('specctl', *command))}", "cyan"))
