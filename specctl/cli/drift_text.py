"""Drift as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.cli.output import style, write
from specctl.domain.drift import COMPARED_WORDS, Cause
from specctl.domain.missing import Why

if TYPE_CHECKING:
    from specctl.domain.drift import DriftRow, ServerDrift

COLOURS = {
    Cause.PROFILE: "yellow",
    Cause.BY_HAND: "red",
    Cause.AT_RUN_TIME: "yellow",
    Cause.UPGRADED: "red",
    Cause.ENGINE: "cyan",
}
KEY_WIDTH = 30


def write_drift(found: ServerDrift) -> None:
    """One server: its differences under their causes, and what could not be compared."""
    follows = f"profile {found.profile}" if found.profile else "no profile"
    version = f", SGLang {found.version}" if found.version else ""
    write(f"{style(f'{found.host}/{found.server}', 'bold')}  {follows}{version}")
    for cause in Cause:
        rows = [row for row in found.rows if row.cause is cause]
        if rows:
            write(f"  {style(cause.words, COLOURS[cause])}")
        for row in rows:
            write(f"    {row.key:<{KEY_WIDTH}} {_values(row)}")
            if row.words:
                write(f"    {'':<{KEY_WIDTH}} {style(row.words, 'dim')}")
    if not found.rows:
        write(f"  {style('no difference', 'green')}")
    for name, why in found.missing.items():
        reason = why.detail or str(why.why)
        if why.why is not Why.NOT_YET:
            words = f"{COMPARED_WORDS.get(name, name)} not compared: {reason}"
            write(f"  {style(words, 'dim')}")


def _values(row: DriftRow) -> str:
    """What each side says, as far as it takes part."""
    if row.key in ("tree", "recipe"):
        return ""
    if row.cause is Cause.UPGRADED:
        return f"{row.running} runs, {row.resolved} is installed now"
    if row.cause in (Cause.ENGINE, Cause.AT_RUN_TIME):
        return f"{row.running} asked, {row.resolved} runs"
    said = f"{row.profile or 'nothing'}{f' in {row.origin}' if row.origin else ' in the profile'}"
    if row.cause is Cause.PROFILE:
        before = row.launched if row.launched is not None else row.running
        return f"{said}, {before or 'nothing'} launched"
    before = f"{row.launched or 'nothing'} launched" if row.profile is None else said
    return f"{before}, {row.running or 'nothing'} runs"
