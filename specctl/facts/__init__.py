"""Pure readings of what hosts and servers answered."""

from __future__ import annotations
