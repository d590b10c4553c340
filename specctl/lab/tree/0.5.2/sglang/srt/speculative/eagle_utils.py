"""Trees of draft tokens: how they are grown from scores, and cut to a size."""

import os

SIMULATE_ACC_LEN = os.environ.get("SIMULATE_ACC_LEN")


def largest_tree(topk, steps):
    """Draft tokens that `topk` branches and `steps` steps can come to, the root not counted."""
    return topk + (steps - 1) * topk * topk


class EagleDraftInput:
    """The hidden states that the drafter continues from."""

    def most_tokens(self, topk, steps):
        return 1 + largest_tree(topk, steps)
