"""SGLang's n-gram matcher, without its threads.

It is step for step the C++ of 0.5.11 to 0.5.23 (csrc/ngram_corpus), and that of 0.5.10 with
`remembers_matches` off, except that

* siblings of a draft tree have no order: the real one is that of a hash map, and greedy
  verification does not depend on it;
* an insertion is done when `insert` returns, which is where the real one's `synchronize` waits;
* a capacity that cannot hold one path is refused, where the real one fails at the first insertion
  or crashes;
* the batch-size dependent budgets of the C++, which no server argument reaches, do not exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.ngram.automaton import Automaton
from specctl.domain.ngram.draft_tree import DraftTree, merge_trees
from specctl.domain.ngram.growing import grow_tree
from specctl.domain.ngram.matching import MatchState
from specctl.domain.ngram.trie import Trie, TrieNode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specctl.domain.ngram.settings import NgramSettings


class _TrieSource:
    """The trie as a source of continuations."""

    @staticmethod
    def recent(place: TrieNode, count: int) -> Iterator[tuple[int, int, TrieNode]]:
        for child in place.recent_children():
            if count == 0:
                return
            count -= 1
            yield child.token, child.freq, child

    @staticmethod
    def frequent(place: TrieNode, count: int) -> Sequence[tuple[int, int, TrieNode]]:
        return [(child.token, child.freq, child) for child in place.frequent_children(count)]


class Matcher:
    """One trie shared by all requests, and the external corpora beside it."""

    def __init__(self, settings: NgramSettings) -> None:
        self.settings = settings
        self._trie = Trie(settings.capacity, settings.max_trie_depth)
        self._states: dict[str, MatchState] = {}
        self._corpora: dict[str, Automaton] = {}

    def insert(self, tail: Sequence[int]) -> None:
        """Take in the last `max_trie_depth` tokens of a text."""
        self._trie.insert(tail)

    def draft(self, rid: str, tail: Sequence[int], total_length: int) -> DraftTree:
        """The draft tree for request `rid`: its text has `total_length` tokens and ends in `tail`.

        `tail` holds at least one token; more than `max_trie_depth` are of no use.
        """
        settings, budget = self.settings, self.settings.num_draft_tokens - 1
        state = MatchState()
        if settings.remembers_matches:
            state = self._states.setdefault(rid, state)
        anchors = state.find_anchors(self._trie, tail, total_length)
        share = min(settings.external_sam_budget, budget) // (len(self._corpora) or 1)
        if not share or not self._corpora:
            return grow_tree(_TrieSource, anchors, budget, settings)
        recent = tail[-settings.max_trie_depth :]
        rest = budget - share * len(self._corpora)
        trees = (
            grow_tree(corpus, corpus.find_anchors(recent), share, settings)
            for corpus in self._corpora.values()
        )
        return merge_trees([grow_tree(_TrieSource, anchors, rest, settings), *trees], budget)

    def forget(self, rid: str) -> None:
        """Drop what is remembered of a request."""
        self._states.pop(rid, None)

    def reset(self) -> None:
        """Empty the trie; external corpora stay."""
        self._trie = Trie(self.settings.capacity, self.settings.max_trie_depth)
        self._states.clear()

    @property
    def nodes(self) -> int:
        """Of the trie that are in use, the root included."""
        return self._trie.nodes

    @property
    def corpora(self) -> Mapping[str, int]:
        """Tokens of each external corpus, separators included."""
        return {name: corpus.token_count for name, corpus in self._corpora.items()}

    def add_corpus(self, name: str, documents: Iterable[Sequence[int]]) -> int:
        """Load documents and return the token count; raises ValueError if the name is in use."""
        if name in self._corpora:
            raise ValueError(
                f"External corpus '{name}' already exists. Remove it before adding a new corpus "
                "with the same id."
            )
        corpus = Automaton(documents)
        if not corpus.token_count:
            raise ValueError("External corpus is empty — no tokens were loaded.")
        self._corpora[name] = corpus
        return corpus.token_count

    def remove_corpus(self, name: str) -> bool:
        """Whether there was one."""
        return self._corpora.pop(name, None) is not None
