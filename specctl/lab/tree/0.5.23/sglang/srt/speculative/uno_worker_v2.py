"""Speculation with the target itself under a draft adapter."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker


class UnoWorkerV2(BaseSpecWorker):
    """Drafts, and has the target verify."""
