"""What launches of two profiles say about them: design, interval, verdict."""

from __future__ import annotations
