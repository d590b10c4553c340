"""Speculation with a small model of the same vocabulary."""

from sglang.srt.speculative.eagle_worker import EAGLEWorker


class StandaloneWorker(EAGLEWorker):
    """Drafts with a model of its own, verifies like EAGLE."""
