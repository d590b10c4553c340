"""Data of the lab: scenarios, costs and the tokenizer's merges."""

from __future__ import annotations
