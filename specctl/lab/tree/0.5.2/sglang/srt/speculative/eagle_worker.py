"""Speculation with a one-layer drafter that reads the target's hidden states."""

from sglang.srt.speculative.eagle_utils import EagleDraftInput


class EAGLEWorker:
    """Drafts a chain or a tree, verifies it in one forward pass of the target."""

    draft_input = EagleDraftInput
