"""The n-gram matcher of SGLang 0.5.10 and later, step for step."""

from __future__ import annotations
