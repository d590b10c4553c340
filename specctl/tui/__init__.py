"""The interactive front end."""

from __future__ import annotations
