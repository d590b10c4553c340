"""What a step of an EAGLE drafter takes in and hands on."""

from sglang.srt.speculative.eagle_utils import largest_tree


class EagleDraftInput:
    """The hidden states that the drafter continues from."""

    def most_tokens(self, topk, steps):
        return 1 + largest_tree(topk, steps)
