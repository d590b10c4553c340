"""A practice GPU host in a box: what it shows is simulated, what reads it is not."""

from __future__ import annotations
