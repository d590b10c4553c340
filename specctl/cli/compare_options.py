"""The options of `specctl compare`, read into what a trial is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

import click

from specctl.domain.durations import read_duration
from specctl.domain.errors import UsageError
from specctl.domain.trial.asking import LAUNCHES_MOST, read_budget, read_levels, read_margin

if TYPE_CHECKING:
    from collections.abc import Callable

LAUNCHES = 8
T = TypeVar("T")


class As(click.ParamType[T], Generic[T]):
    """What `read` makes of the words; its refusal names the option."""

    def __init__(self, name: str, read: Callable[[str], T]) -> None:
        self.name = name
        self._read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """Read once."""
        try:
            return self._read(str(value))
        except UsageError as error:
            self.fail(f"{error.message}. {error.hint}", param, ctx)


DURATION = As("TIME", read_duration)
BUDGET = As("TIME", read_budget)
MARGIN = As("SHARE", read_margin)
CONCURRENCIES = As("N[,N…]", read_levels)


def trial_options(command: Callable[..., object]) -> Callable[..., object]:
    """Everything that lays a trial out."""
    for option in reversed((
        click.option(
            "--launches", type=click.IntRange(1, LAUNCHES_MOST), metavar="K",
            help=f"Of each arm of the trial, at most; {LAUNCHES}, or 1 for several profiles of "
            "which no trial is asked for. One is a number, never a verdict.",
        ),
        click.option(
            "--over", multiple=True, metavar="ARGUMENT=VALUE,…",
            help="Try PROFILE at each of these values of a speculation argument; several make a "
            "grid. What the build would not run is left out.",
        ),
        click.option(
            "--margin", type=MARGIN, default="2%", show_default=True,
            help="A difference within it is no material one.",
        ),
        click.option(
            "--strict", is_flag=True,
            help="First verdict after 6 launches each: sees a second speed that comes and goes.",
        ),
        click.option(
            "--one-look", "is_looked_at_once", is_flag=True,
            help="No word before all launches are made: for an A/A, which tells a host's noise.",
        ),
        click.option(
            "--budget", type=BUDGET,
            help="Begin no pair or round of launches that would end later, e.g. 40m.",
        ),
    )):  # fmt: skip
        command = option(command)
    return command
