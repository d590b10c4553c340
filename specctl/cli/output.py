"""The only writer of standard output: data, as text or as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from specctl.cli.simulated import SHOWN
from specctl.cli.streams import OutputLostError

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


def write(text: str = "") -> None:
    """One piece of text and a line end, seen at once also through a pipe."""
    if head := SHOWN.head("stdout"):
        _put(style(head, "bold"))
    _put(text)


def _put(text: str) -> None:
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError as error:
        raise OutputLostError(error) from error


def write_json(
    name: str, payload: dict[str, Any], *, version: int = 1, lines: bool = False
) -> None:
    """One JSON object that says which schema it follows, and whether it is of a practice host.

    `lines` keeps it on one line.
    """
    simulated = SHOWN.holds(payload.get("host"))
    document = {"schema": f"specctl/{name}/{version}", "simulated": simulated, **payload}
    _put(json.dumps(document, indent=None if lines else 2, ensure_ascii=False))


def write_foreign(text: str) -> None:
    """A document in somebody else's format, e.g. HTML: nothing is put before it."""
    _put(text.removesuffix("\n"))


def write_plain_json(payload: Any) -> None:
    """JSON that is somebody else's format, e.g. a JSON Schema."""
    _put(json.dumps(payload, indent=2, ensure_ascii=False))


def has_colour() -> bool:
    """Standard output is a terminal and nobody asked for plain text (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and _is_capable()


def _is_capable() -> bool:
    return os.environ.get("TERM", "") not in {"", "dumb"}


def style(text: str, *names: str) -> str:
    """`text` in colour where there is colour, unchanged elsewhere."""
    if not names or not has_colour():
        return text
    return f"\x1b[{';'.join(_CODES[name] for name in names)}m{text}\x1b[0m"
