"""Speculation with a drafter that reads the target's KV cache and writes none."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker
from sglang.srt.speculative.eagle_info import EagleDraftInput


class FrozenKVMTPWorkerV2(BaseSpecWorker):
    """Drafts a chain or a tree, verifies it in one forward pass of the target."""

    draft_input = EagleDraftInput
