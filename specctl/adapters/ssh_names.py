"""Names in the user's own ssh configuration; what it includes is not followed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG_BYTES_MAX = 1 << 20
_CONFIGURED = re.compile(
    r"^[ \t]*(host|hostname|proxyjump|user)[ \t=]+(.+)$", re.IGNORECASE | re.MULTILINE
)


def read_configured() -> Iterator[tuple[str, list[str]]]:
    """Keyword, in lower case, and words of each such line; none where it cannot be read."""
    try:
        with (Path.home() / ".ssh" / "config").open("rb") as stream:
            text = stream.read(CONFIG_BYTES_MAX).decode("utf-8", "replace")
    except OSError:
        return
    for keyword, value in _CONFIGURED.findall(text):
        words = re.split(r"[\s,]+", value.strip().replace('"', ""))
        yield keyword.lower(), [word for word in words if word]


def aliases() -> list[str]:
    """What `Host` lines name, in their order; patterns are none."""
    return [
        word
        for keyword, words in read_configured()
        if keyword == "host"
        for word in words
        if is_name(word)
    ]


def is_name(word: str) -> bool:
    """It stands for itself: no pattern, and nothing that ssh fills in."""
    return bool(word) and not set(word) & set("*?!%")
