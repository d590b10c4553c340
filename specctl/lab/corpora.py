"""External corpora of an n-gram engine, within their token limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.lab.drafters import NgramDrafter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.lab.drafters import Drafter
    from specctl.lab.setting import Setting


class CorpusRefusedError(Exception):
    """A corpus cannot be loaded; the message is SGLang's."""


class Corpora:
    """What is loaded beside the trie of outputs."""

    def __init__(self, setting: Setting, drafter: Drafter | None) -> None:
        self._matcher = drafter.matcher if isinstance(drafter, NgramDrafter) else None
        self._most = setting.corpus_max_tokens

    @property
    def counts(self) -> Mapping[str, int]:
        """Tokens by id, separators included."""
        return {} if self._matcher is None else self._matcher.corpora

    def add(self, corpus_id: str, documents: Sequence[Sequence[int]]) -> int:
        """Load documents; the token count. Raises CorpusRefusedError."""
        if self._matcher is None:
            raise CorpusRefusedError("Ngram speculative decoding is not enabled.")
        left = self._most - sum(self._matcher.corpora.values())
        full = [document for document in documents if document]
        wanted = sum(map(len, full)) + max(0, len(full) - 1)
        if wanted > left:
            raise CorpusRefusedError(
                f"External ngram corpus exceeds the remaining token budget ({left}) after loading "
                f"{_count_loaded(full, left)} tokens."
            )
        try:
            return self._matcher.add_corpus(corpus_id, full)
        except ValueError as error:
            raise CorpusRefusedError(str(error)) from error

    def remove(self, corpus_id: str) -> bool:
        """Whether there was one."""
        return self._matcher is not None and self._matcher.remove_corpus(corpus_id)


def _count_loaded(documents: Sequence[Sequence[int]], left: int) -> int:
    """Tokens of the documents that fit before the one that does not."""
    loaded = 0
    for number, document in enumerate(documents):
        size = len(document) + (number > 0)
        if loaded + size > left:
            break
        loaded += size
    return loaded
