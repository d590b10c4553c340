"""Speculation with a drafter with a layer of its own for every step."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker
from sglang.srt.speculative.eagle_info import EagleDraftInput


class MultiLayerEagleWorker(BaseSpecWorker):
    """Drafts a chain or a tree, verifies it in one forward pass of the target."""

    draft_input = EagleDraftInput
