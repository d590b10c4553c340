"""The trie, from Python; the C++ below `jit_kernel/csrc/ngram_corpus` does the work."""

from sglang.jit_kernel.ngram_corpus import get_ngram_corpus_cls


class NgramCorpus:
    """One trie of a scheduler process, shared by all its requests."""

    def __init__(self, **settings):
        self._corpus = get_ngram_corpus_cls()(**settings)

    def batch_get(self, tails):
        return self._corpus.batch_match(tails)

    def batch_put(self, tails):
        self._corpus.async_insert(tails)
