"""The settings of the n-gram matcher, with SGLang's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class MatchType(StrEnum):
    """How a draft tree grows: the most recent continuations first, or the most likely."""

    BFS = "BFS"
    PROB = "PROB"


@dataclass(frozen=True, slots=True)
class NgramSettings:
    """`--speculative-ngram-*` and `--speculative-num-draft-tokens`; raises ValueError for bad ones.

    The messages are those of the real constructor (0.5.10 to 0.5.23).
    """

    max_trie_depth: int = 18
    min_bfs_breadth: int = 1
    max_bfs_breadth: int = 10
    num_draft_tokens: int = 12
    match_type: MatchType = MatchType.BFS
    capacity: int = 10_000_000
    external_sam_budget: int = 0
    """Draft tokens reserved for external corpora, shared evenly by them (0.5.11 and later)."""

    remembers_matches: bool = True
    """Where a request stood is kept from step to step (0.5.11 and later) or looked up afresh."""

    def __post_init__(self) -> None:
        if self.max_trie_depth <= 1:
            raise ValueError(
                "param_.max_trie_depth must be greater than 1, current value: "
                f"{self.max_trie_depth}"
            )
        if self.min_bfs_breadth <= 0:
            raise ValueError(
                f"min_bfs_breadth must be greater than 0, current value: {self.min_bfs_breadth}"
            )
        if self.min_bfs_breadth > self.max_bfs_breadth:
            raise ValueError(
                "min_bfs_breadth must be less than or equal to max_bfs_breadth, current "
                f"min_bfs_breadth: {self.min_bfs_breadth}, max_bfs_breadth: {self.max_bfs_breadth}"
            )
        if self.num_draft_tokens <= 0:
            raise ValueError(
                f"draft_token_num must be greater than 0, current value: {self.num_draft_tokens}"
            )
        if self.capacity <= self.max_trie_depth:
            raise ValueError(
                f"capacity {self.capacity} cannot hold a path of {self.max_trie_depth} tokens and "
                "the root"
            )
