"""Transcripts as token ids: what was asked and what was answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Transcript:
    """One request that was answered before."""

    prompt: tuple[int, ...]
    output: tuple[int, ...]
    category: str = "all"
    name: str = ""
    """Where it came from, e.g. `transcripts.jsonl:12`."""
