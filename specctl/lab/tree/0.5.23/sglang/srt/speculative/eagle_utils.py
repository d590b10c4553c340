"""Trees of draft tokens: how they are grown from scores, and cut to a size."""


def largest_tree(topk, steps):
    """Draft tokens that `topk` branches and `steps` steps can come to, the root not counted."""
    return topk + (steps - 1) * topk * topk
