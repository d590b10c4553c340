"""Runs as one self-contained page or a Markdown text; every string of a host is escaped."""

from __future__ import annotations
