"""What follows what in the documents of a category."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.tokenizer import Tokenizer

LONGEST_CONTEXT = 5


class Passages:
    """The documents as tokens, each ending in the end token, and their contexts."""

    def __init__(self, documents: Sequence[str], tokenizer: Tokenizer) -> None:
        self.documents = [[*tokenizer.encode(text), tokenizer.eos_id] for text in documents]
        self._words = [set(tokens) for tokens in self.documents]
        self._after: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for tokens in self.documents:
            for place in range(1, len(tokens)):
                for order in range(1, min(place, LONGEST_CONTEXT) + 1):
                    self._after[tuple(tokens[place - order : place])].append(tokens[place])

    def find_continuations(self, text: Sequence[int], order: int) -> Sequence[int]:
        """What follows the last `order` tokens of `text`, or fewer where nothing follows so many.

        Each continuation is there as often as it occurs; nothing follows a token of no document.
        """
        for length in range(min(order, len(text)), 0, -1):
            found = self._after.get(tuple(text[-length:]))
            if found:
                return found
        return ()

    def find_start(self, prompt: Sequence[int], digest: int) -> Sequence[int]:
        """The document that shares most with `prompt`, weighing what few documents have.

        `digest` decides among documents that hardly differ.
        """
        asked = set(prompt)
        holders = {token: sum(token in words for words in self._words) for token in asked}
        rare = {token for token, count in holders.items() if 0 < count <= len(self.documents) // 3}
        shared = [len(words & rare) for words in self._words]
        best = [place for place, count in enumerate(shared) if count >= max(shared) - 1]
        return self.documents[best[digest % len(best)]]
