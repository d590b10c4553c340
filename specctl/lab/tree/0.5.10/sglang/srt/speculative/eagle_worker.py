"""Speculation with a one-layer drafter that reads the target's hidden states."""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker
from sglang.srt.speculative.eagle_info import EagleDraftInput


class EAGLEWorker(BaseSpecWorker):
    """Drafts a chain or a tree, verifies it in one forward pass of the target."""

    draft_input = EagleDraftInput
