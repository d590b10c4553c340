"""What the global options of one run say, handed to every command as `ctx.obj`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from specctl.adapters.workspace import Workspace


class ScreenWanted(Exception):  # noqa: N818  nothing went wrong
    """A recording is to be shown on the screen, which only the caller of both front ends opens."""

    def __init__(self, file: Path, speed: float, at_s: float) -> None:
        super().__init__(str(file))
        self.file, self.speed, self.at_s = file, speed, at_s


@dataclass(frozen=True, slots=True)
class Invocation:
    """One run of specctl."""

    chosen: str | None = None
    """The workspace asked for with -C."""

    read_only: bool = False

    def workspace(self) -> Workspace:
        """The workspace of this run, read now; UsageError when there is none."""
        from specctl.adapters.workspace import find_workspace
        from specctl.cli.simulated import SHOWN

        workspace = find_workspace(_here(), self.chosen, read_only=self.read_only)
        workspace.notice = SHOWN.notice
        return workspace

    def workspace_to_add_to(self) -> Workspace:
        """The workspace of this run, or the user's own one, made now, where there is none."""
        from specctl.adapters import paths
        from specctl.adapters.workspace import find_workspace
        from specctl.adapters.workspace_root import REMOTES
        from specctl.domain.errors import UsageError

        try:
            return self.workspace()
        except UsageError:
            if self.chosen:
                raise
            (paths.own_workspace() / REMOTES).mkdir(parents=True, exist_ok=True)
            return find_workspace(Path.cwd(), read_only=self.read_only)


def _here() -> Path:
    from specctl.domain.errors import UsageError

    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "the current directory exists no more", hint="cd to one that does."
        ) from None


class Finite(click.FloatRange):
    """A number that is one: NaN passes every comparison."""

    what = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As click does it, finite."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is no {self.what}", param, ctx)
        return found


class Seconds(Finite):
    """A time."""

    what = "time"


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of text."
)
on_option = click.option("--on", metavar="HOST", help="As it is on this host.")
yes_option = click.option(
    "--yes", "-y", is_flag=True, help="Do not ask; needed without a terminal."
)
