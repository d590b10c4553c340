"""Ratios against the ways people do it today, both sides taken in one run."""

from __future__ import annotations
