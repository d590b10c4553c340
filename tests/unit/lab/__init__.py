"""Tests of the practice host's parts."""

from __future__ import annotations
