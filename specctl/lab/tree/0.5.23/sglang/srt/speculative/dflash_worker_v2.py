"""Speculation with a drafter that fills a block at once."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker


class DFlashWorkerV2(BaseSpecWorker):
    """Drafts, and has the target verify."""
