"""Speculation without a draft model: what followed the same tokens before is proposed again.

Only what was generated is remembered; a prompt is not. `/flush_cache` forgets it.
"""

from sglang.srt.speculative.base_spec_worker import BaseSpecWorker
from sglang.srt.speculative.cpp_ngram.ngram_corpus import NgramCorpus
from sglang.srt.speculative.ngram_info import NgramVerifyInput


class NGRAMWorker(BaseSpecWorker):
    """Looks drafts up in a trie of recent output."""

    verify_input = NgramVerifyInput

    def __init__(self, server_args):
        self.corpus = NgramCorpus(
            max_trie_depth=server_args.speculative_ngram_max_trie_depth,
            min_bfs_breadth=server_args.speculative_ngram_min_bfs_breadth,
            max_bfs_breadth=server_args.speculative_ngram_max_bfs_breadth,
            draft_token_num=server_args.speculative_num_draft_tokens,
            match_type=server_args.speculative_ngram_match_type,
            capacity=server_args.speculative_ngram_capacity,
        )
