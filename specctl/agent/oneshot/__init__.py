"""Actions that run once on a host and answer with one object: launch, signal, hold, record."""

from __future__ import annotations
