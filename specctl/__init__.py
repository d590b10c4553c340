"""An operator's control plane for speculative decoding with SGLang."""

from __future__ import annotations

__version__ = "0.1.0"
