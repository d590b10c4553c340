"""The command log: what was done on hosts, changes first to the eye."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.remote_command import Way
from specctl.tui.render.lines import Line, clip, middle, row, wrap

if TYPE_CHECKING:
    from specctl.domain.remote_command import RemoteCommand

TIME_CELLS, HOST_CELLS, WHAT_CELLS, OUTCOME_CELLS, TOOK_CELLS = 8, 12, 20, 14, 7
NARROW_CELLS = 100


def head_line(cells: int) -> Line:
    """The names of the columns."""
    words = ("TIME", "HOST", "  WHAT", "OUTCOME", "TOOK s", "ABOUT")
    return row(*[([(word, "faint")], size) for word, size in _sized(words, cells)])


def _sized(words: tuple[str, ...], cells: int) -> list[tuple[str, int]]:
    what = WHAT_CELLS + 2 if cells >= NARROW_CELLS else WHAT_CELLS - 4
    sizes = [TIME_CELLS, HOST_CELLS, what, OUTCOME_CELLS, TOOK_CELLS]
    rest = cells - sum(sizes) - 2 * len(sizes)
    return list(zip(words, [*sizes, max(0, rest)], strict=True))


def command_line(command: RemoteCommand, cells: int, offset_s: int) -> Line:
    """One entry: when, where, what, how it ended, how long it took, what about."""
    changes, times = command.changes, command.times
    mark = ("● ", "accent") if changes else ("  ", "")
    what: Line = [mark, (command.what, "bright" if changes else "dim")]
    if times > 1:
        what.append((f" ×{times:,}", "faint"))
    host: Line = [(middle(command.host, HOST_CELLS), "text" if changes else "dim")]
    outcome: Line = [outcome_word(command)]
    simulated: Line = [(" SIMULATED ", "badge"), (" ", "")] if command.simulated else []
    took = figures.fixed(command.elapsed_s, 2)
    columns: list[Line] = [
        [(figures.clock(command.time_s, offset_s), "faint")],
        host,
        what,
        outcome,
        [(took, "dim")],
        [*simulated, (command.brief, "text" if changes else "faint")],
    ]
    sizes = [size for _, size in _sized(("",) * 6, cells)]
    cut = [clip(column, size) for column, size in zip(columns, sizes, strict=True)]
    return row(
        *[
            (column, size, ">") if at == 4 else (column, size)  # noqa: PLR2004  the number
            for at, (column, size) in enumerate(zip(cut, sizes, strict=True))
        ]
    )


def outcome_word(command: RemoteCommand) -> tuple[str, str]:
    """How it ended, with its mark."""
    if command.is_failure:
        return (f"✗ {command.outcome}", "bad")
    return (command.outcome, "ok" if command.changes else "dim")


def detail_lines(command: RemoteCommand, cells: int) -> list[Line]:
    """Everything of one entry, as it may be copied."""
    way = {Way.COMMAND: "ran", Way.AGENT: "asked the agent", Way.HTTP: "asked the server"}
    out: list[Line] = [[("  ", ""), (way[command.way], "faint")]]
    words = shlex.join(command.argv) if command.argv else command.what
    out += [[("    " + text, "strong")] for text in wrap(words, cells - 4)]
    for key, value in command.asked.items():
        shown = shlex.join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        lines = wrap(f"{key}  {shown}", cells - 4)
        out += [[("    " + text, "dim")] for text in lines]
    if command.is_failure:
        out += [[("    ✗ " + text, "bad")] for text in wrap(command.outcome, cells - 6)]
    return out


def matches(command: RemoteCommand, terms: str) -> bool:
    """It has every word; one with `!` before it must not be there."""
    text = f"{command.host} {command.what} {command.outcome} {command.line}".lower()
    for word in terms.lower().split():
        is_unwanted = word.startswith("!") and len(word) > 1
        if (word.removeprefix("!") in text) == is_unwanted:
            return False
    return True
