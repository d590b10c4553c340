"""Speculation with a small model of the same vocabulary."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker


class StandaloneWorker(BaseSpecWorker):
    """Drafts, and has the target verify."""
