"""What SGLang's n-gram speculation would do on transcripts, without starting anything."""

from __future__ import annotations
