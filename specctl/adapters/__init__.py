"""The only modules that touch a wire or a disk; foreign errors are translated here, once."""

from __future__ import annotations
