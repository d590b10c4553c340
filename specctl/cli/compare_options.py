"""The options of `specctl compare`, read into what a trial is made of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from specctl.domain.trial.design import Design

if TYPE_CHECKING:
    from collections.abc import Callable

_TIME = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m(?:in)?)?(?:(\d+(?:\.\d+)?)s)?")
_UNITS_S = (3600.0, 60.0, 1.0)
STRICT_FIRST_LOOK = 6
MARGIN_MOST = 0.5
LAUNCHES = 8
LEAST_LOOKED_AT = 3


class Duration(click.ParamType[float]):
    """`90s`, `40m`, `2h`, `1h30m`; seconds without a unit."""

    name = "TIME"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds."""
        text = str(value).strip().lower()
        found = _TIME.fullmatch(text)
        if found and any(found.groups()):
            parts = zip(found.groups(), _UNITS_S, strict=True)
            return sum(float(part) * unit for part, unit in parts if part)
        try:
            seconds = float(text)
        except ValueError:
            self.fail(f"{value!r} is no time; write it as 90s, 40m, 2h or 1h30m", param, ctx)
        if not 0 < seconds < float("inf"):
            self.fail(f"{value!r} is no time to work with", param, ctx)
        return seconds


class Margin(click.ParamType[float]):
    """`2%` or `0.02`."""

    name = "SHARE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """A share of 1."""
        text = str(value).strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            self.fail(f"{value!r} is no share; write it as 2% or 0.02", param, ctx)
        if not 0 < share <= MARGIN_MOST:
            self.fail(f"{value!r}: a margin lies between 0 and {MARGIN_MOST:.0%}", param, ctx)
        return share


class Concurrencies(click.ParamType[tuple[int, ...]]):
    """`1` or `1,4,16`; the first is the one the verdict is about."""

    name = "N[,N…]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Each once."""
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(int(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of whole numbers such as 1,4,16", param, ctx)
        if any(not 1 <= number <= 1024 for number in found):  # noqa: PLR2004 - as of probe
            self.fail(f"{value!r}: a concurrency lies between 1 and 1024", param, ctx)
        if len(set(found)) != len(found):
            self.fail(f"{value!r} names one twice", param, ctx)
        return found


def trial_options(command: Callable[..., object]) -> Callable[..., object]:
    """Everything that lays a trial out."""
    for option in reversed((
        click.option(
            "--launches", type=click.IntRange(1, 24), metavar="K",
            help=f"Of each arm of the trial, at most; {LAUNCHES}, or 1 for several profiles of "
            "which no trial is asked for. One is a number, never a verdict.",
        ),
        click.option(
            "--over", multiple=True, metavar="ARGUMENT=VALUE,…",
            help="Try PROFILE at each of these values of a speculation argument; several make a "
            "grid. What the build would not run is left out.",
        ),
        click.option(
            "--margin", type=Margin(), default="2%", show_default=True,
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
            "--budget", type=Duration(),
            help="Begin no pair or round of launches that would end later, e.g. 40m.",
        ),
    )):  # fmt: skip
        command = option(command)
    return command


def design_of(
    launches: int, margin: float, *, strict: bool, is_looked_at_once: bool = False
) -> Design:
    """The design that these options ask for."""
    first = STRICT_FIRST_LOOK if strict else LEAST_LOOKED_AT
    if is_looked_at_once:
        first = max(first, launches)
    return Design(
        most_launches=launches,
        margin=margin,
        first_look=min(first, max(launches, 1)) if launches >= LEAST_LOOKED_AT else first,
        early_error=0.0 if strict or is_looked_at_once else Design().early_error,
    )
