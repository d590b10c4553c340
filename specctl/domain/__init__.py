"""Values and rules: no I/O, no clock, no asyncio, nothing third-party."""

from __future__ import annotations
