"""The headless front end: stdout is data, stderr is words."""

from __future__ import annotations
