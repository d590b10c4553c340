"""There, so that this build is seen to read --config."""

from __future__ import annotations
