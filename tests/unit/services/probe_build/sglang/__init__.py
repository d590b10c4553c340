"""Not SGLang: a process that starts, logs, serves and ends the way SGLang 0.5.23 does."""

from __future__ import annotations
