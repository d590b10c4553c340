"""Texts that tests read."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def data_text(name: str) -> str:
    """The text of one file, its path relative to this directory."""
    return (_HERE / name).read_bytes().decode()
