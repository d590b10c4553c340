"""Speculation with a drafter that decides how far to trust itself."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker


class DSparkWorkerV2(BaseSpecWorker):
    """Drafts, and has the target verify."""
