"""`specctl show PROFILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from specctl.adapters.recipe import Recipe, recipe
from specctl.cli.invocation import json_option, on_option
from specctl.cli.output import style, write, write_json
from specctl.domain.plain import plain
from specctl.domain.published import Shown, ShownValue

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.cli.invocation import Invocation

_KEY_WIDTH, _VALUE_WIDTH = 36, 44


@click.command()
@click.argument("profile")
@on_option
@json_option
@click.pass_obj
def command(invocation: Invocation, profile: str, on: str | None, *, as_json: bool) -> None:
    """Print a complete recipe: every value, where it was written, and the command line.

    \b
    specctl show llama-8b-eagle3
    specctl show llama-8b-eagle3 --on gpu8
    """  # noqa: D301  click reads \b
    shown = recipe(invocation.workspace(), profile, on)
    if as_json:
        write_json("show", plain(published(shown)))
    else:
        _write_text(shown)


def published(shown: Recipe) -> Shown:
    """A recipe as it is published."""
    return Shown(
        profile=shown.profile,
        host=shown.host,
        description=shown.description,
        values=tuple(ShownValue(row.key, row.value, row.origin) for row in shown.rows),
        secrets=shown.secrets,
        environment=shown.environment,
        argv=shown.argv,
        command=shown.command,
    )


def _write_text(shown: Recipe) -> None:
    write(style(shown.profile, "bold") + (f" on {shown.host}" if shown.host else ""))
    if shown.description:
        write(shown.description)
    write()
    keys = _fitting((row.key for row in shown.rows), _KEY_WIDTH)
    values = _fitting((row.text for row in shown.rows), _VALUE_WIDTH)
    for row in shown.rows:
        origin = style(row.origin or "default", "dim")
        write(f"{row.key:<{keys}}  {row.text:<{values}}  {origin}".rstrip())
    write()
    write(shown.command)
    for destination, words in shown.secrets.items():
        write(f"# {destination}: {words}")


def _fitting(texts: Iterable[str], most: int) -> int:
    """As wide as the longest of `texts`, a few long ones aside."""
    return min(max(map(len, texts), default=0), most)
