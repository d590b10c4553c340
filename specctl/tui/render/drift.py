"""How a running server differs from its profile: each difference with its cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.drift import COMPARED_WORDS
from specctl.tui.render.lines import UNKNOWN, Line, middle, row, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.drift import DriftRow, ServerDrift

KEY_CELLS, MOST_SIDE = 30, 24
SIDES = ("PROFILE", "LAUNCHED", "RUNNING", "RESOLVED")


def drift_lines(drift: ServerDrift, cells: int) -> list[Line]:
    """What a new start would change, what the engine rewrites alike, and what is not known."""
    out: list[Line] = []
    if not drift.drifted:
        out.append([("✓ ", "ok"), (_agreement(drift), "text")])
    for name, rows in (("DRIFTED", drift.drifted), ("REWRITTEN BY THE ENGINE", drift.rewritten)):
        if rows:
            out += [*([[]] if out else []), *_block(name, rows, cells)]
    for name, reason in drift.missing.items():
        lines = wrap(f"{COMPARED_WORDS.get(name, name)} was not compared: {reason}", cells - 2)
        out += [*([[]] if name == next(iter(drift.missing)) else [])]
        out += [[("? " if i == 0 else "  ", "warn"), (text, "dim")] for i, text in enumerate(lines)]
    return out


def _agreement(drift: ServerDrift) -> str:
    if drift.profile is None:
        return f"{drift.server} follows no profile; it runs as it was launched."
    return f"{drift.server} runs as {drift.profile} says."


def _block(name: str, rows: Sequence[DriftRow], cells: int) -> list[Line]:
    """The rows of one kind under a head of the sides that any of them has."""
    used = [i for i in range(len(SIDES)) if any(_sides(r)[i] is not None for r in rows)]
    key = min(KEY_CELLS, cells // 3)
    size = min(MOST_SIDE, max(8, (cells - key - 2 * len(used) - 2) // max(1, len(used))))
    head = row(([(name, "faint")], key), *[([("  " + SIDES[i], "faint")], size) for i in used])
    out = [head]
    for item in rows:
        out.append(_line(item, used, key, size))
        words = ". ".join(filter(None, (item.cause.words, item.words, item.origin)))
        out += [[("  ", ""), (text, "dim")] for text in wrap(words, cells - 2)]
    return out


def _sides(item: DriftRow) -> tuple[str | None, ...]:
    return item.profile, item.launched, item.running, item.resolved


def _line(item: DriftRow, used: Sequence[int], key: int, size: int) -> Line:
    """The values side by side; one that differs from the one before it is marked."""
    columns: list[tuple[Line, int]] = [([(middle(item.key, key), "title")], key)]
    before: str | None = None
    for i in used:
        value = _sides(item)[i]
        differs = value is not None and before is not None and value != before
        mark = ("≠ ", "warn") if differs else ("  ", "")
        tone = "warnb" if differs else "text"
        shown = UNKNOWN if value is None else (middle(value, size - 2), tone)
        columns.append(([mark, shown], size))
        before = value if value is not None else before
    return row(*columns)
