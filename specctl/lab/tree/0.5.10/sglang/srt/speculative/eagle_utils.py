"""Trees of draft tokens: how they are grown from scores, and cut to a size."""

from sglang.srt.environ import envs

SIMULATE_ACC_LEN = envs.SGLANG_SIMULATE_ACC_LEN.get()  # off below 0


def largest_tree(topk, steps):
    """Draft tokens that `topk` branches and `steps` steps can come to, the root not counted."""
    return topk + (steps - 1) * topk * topk
