"""Who is told that the ledger's file was changed for this version: the front end that runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_listeners: list[Callable[[str], None]] = []


def listen(tell: Callable[[str], None]) -> None:
    """Tell this one from here on, and no other."""
    _listeners[:] = [tell]


def notify(words: str) -> None:
    """Say it to whoever listens."""
    for tell in _listeners:
        tell(words)
