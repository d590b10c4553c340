"""What a user can ask for; the only writers of the store."""

from __future__ import annotations
