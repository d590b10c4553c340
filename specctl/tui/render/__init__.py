"""What the screen shows, decided without a widget: state in, lines of spans out."""

from __future__ import annotations
