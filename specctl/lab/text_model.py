"""A text model: it continues a prompt from the corpus, the same way every time.

The next token is one that follows the last few tokens somewhere in the documents of the prompt's
category. How many tokens it looks back at, and which of the possible continuations it takes, is
drawn from a hash of the whole text so far: short contexts wander, long ones quote.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from specctl.lab.categories import find_category
from specctl.lab.corpus import read_documents
from specctl.lab.hashing import extend, fraction, mix, seed_of
from specctl.lab.passages import Passages
from specctl.lab.variation import Variation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.lab.tokenizer import Tokenizer

SAMPLED_WANDERING = 0.3
"""Share of a sampled answer's tokens, at temperature 1, that look back one token less."""

SENTENCE_ENDS = (b".", b"!", b"?", b"\n")
SHORTEST_QUOTE = 4


@dataclass(frozen=True, slots=True)
class Habit:
    """How answers of a category are written."""

    orders: tuple[float, ...]
    """Weights of looking back at 1, 2, 3 … tokens."""

    shortest: int
    longest: int
    """Tokens before an answer may end: drawn between the two."""

    varies: float = 0.0
    """Share of replaceable words and numbers that are replaced."""

    is_steady: bool = False
    """A word that is replaced becomes the same word everywhere in an answer."""

    quotes: bool = False
    """Where a document ends, sentences of the prompt are copied."""


class TextModel:
    """Answers for one tokenizer; `habits` by category."""

    def __init__(self, tokenizer: Tokenizer, habits: Mapping[str, Habit], seed: int = 0) -> None:
        self.tokenizer = tokenizer
        self.seed = seed
        self.habits = habits
        self._passages: dict[str, Passages] = {}
        self.variation = Variation(tokenizer)
        self.paragraph = tuple(tokenizer.encode("\n\nA")[:-1])
        """What stands between paragraphs, as it is encoded before a word."""

    def passages(self, category: str) -> Passages:
        """The documents of `category`."""
        if category not in self._passages:
            self._passages[category] = Passages(read_documents(category), self.tokenizer)
        return self._passages[category]

    def start(
        self, prompt: Sequence[int], *, temperature: float = 0.0, seed: int = 0
    ) -> Continuation:
        """The answer to `prompt`; `seed` counts only when it is sampled."""
        category = find_category(self._read_question(prompt))
        digest = seed_of(self.seed, seed if temperature > 0 else None, tuple(prompt))
        return Continuation(self, category, prompt, digest, min(temperature, 1.0))

    def find_sentences(self, prompt: Sequence[int]) -> list[list[int]]:
        """The sentences of a prompt, special tokens left out."""
        sentences: list[list[int]] = [[]]
        for token in prompt:
            if token in self.tokenizer.special_ids:
                continue
            sentences[-1].append(token)
            if self.tokenizer.decode_bytes((token,)).endswith(SENTENCE_ENDS):
                sentences.append([])
        return [sentence for sentence in sentences if len(sentence) >= SHORTEST_QUOTE]

    def _read_question(self, prompt: Sequence[int]) -> str:
        """The last thing that was said to the model, or all of a prompt without turns."""
        text = self.tokenizer.decode(prompt, skips_special=False)
        turns = text.split("<|im_user|>user<|im_middle|>")
        return turns[-1].split("<|im_end|>")[0]


class Continuation:
    """An answer as far as it was asked for; it goes on for ever, end tokens included."""

    def __init__(
        self,
        model: TextModel,
        category: str,
        prompt: Sequence[int],
        digest: int,
        temperature: float,
    ) -> None:
        self.category = category
        self._model = model
        self._habit = model.habits[category]
        self._passages = model.passages(category)
        self._temperature = temperature
        self._digest = self._origin = digest
        self._prompt = tuple(prompt)
        habit = self._habit
        self._may_end = habit.shortest + mix(digest) % (habit.longest - habit.shortest + 1)
        self._text: list[int] = []
        self._source: list[int] = []
        """The text before words were replaced: what is looked up in the documents."""

        self._others: list[int] = []
        self._given = 0
        self._verbatim = 0
        """How many of the pending tokens are a quotation."""

        self._pending = list(self._passages.find_start(prompt, digest)[:2])[::-1]

    def look_ahead(self, count: int) -> Sequence[int]:
        """The next `count` tokens, without taking them."""
        self._write(count)
        return self._text[self._given : self._given + count]

    def take(self, count: int) -> Sequence[int]:
        """The next `count` tokens."""
        taken = self.look_ahead(count)
        self._given += count
        return taken

    def guess_otherwise(self, ahead: int) -> int:
        """A plausible token that is not the one `ahead` places on."""
        self._write(ahead + 1)
        return self._others[self._given + ahead]

    def digest_at(self, ahead: int) -> int:
        """What is drawn from about the token `ahead` places on; the same in every run."""
        return mix(self._origin + self._given + ahead)

    def _write(self, ahead: int) -> None:
        while len(self._text) < self._given + ahead:
            draw = mix(self._digest)
            token = self._choose(draw)
            said = token if self._verbatim else self._vary(token, draw)
            self._verbatim = max(0, self._verbatim - 1)
            self._others.append(self._other(said, draw))
            self._source.append(token)
            self._text.append(said)
            self._digest = extend(self._digest, said)

    def _choose(self, draw: int) -> int:
        """The next token, as the documents have it."""
        if self._pending:
            return self._pending.pop()
        order = self._draw_order(draw)
        candidates = self._passages.find_continuations(self._source, order)
        token = candidates[draw % len(candidates)] if candidates else self._begin_again(draw)
        return self._end_document(draw) if token == self._model.tokenizer.eos_id else token

    def _vary(self, token: int, draw: int) -> int:
        equals = self._model.variation.find_equals(token)
        if not equals:
            return token
        decision = mix(self._origin ^ token) if self._habit.is_steady else draw
        if fraction(decision + 2) >= self._habit.varies:
            return token
        return equals[(decision >> 12) % len(equals)]

    def _draw_order(self, draw: int) -> int:
        weights = list(accumulate(self._habit.orders))
        order = bisect_right(weights, fraction(draw) * weights[-1]) + 1
        wanders = fraction(draw + 1) < SAMPLED_WANDERING * self._temperature
        return max(1, order - 1) if wanders else order

    def _other(self, token: int, draw: int) -> int:
        """A continuation of the shortest context that differs, else any other token."""
        candidates = self._passages.find_continuations(self._source, 1) or self._model.paragraph
        other = candidates[(draw >> 20) % len(candidates)]
        if other == token:
            other = candidates[(draw >> 30) % len(candidates)]
        return other if other != token else (token + 1 + draw % 97) % self._model.tokenizer.size

    def _end_document(self, draw: int) -> int:
        """The end, or what comes before it: quoted sentences, another document."""
        is_early = len(self._text) < self._may_end
        if self._habit.quotes and is_early:
            quotation = self._quote(draw)
            self._verbatim = len(quotation)
            self._pending = [*quotation, *self._model.paragraph][::-1]
            return self._pending.pop()
        if not is_early:
            self._may_end = len(self._text) + self._habit.shortest
            return self._model.tokenizer.eos_id
        self._pending = [*self._model.paragraph, self._begin_again(draw)][::-1]
        return self._pending.pop()

    def _begin_again(self, draw: int) -> int:
        documents = self._passages.documents
        return documents[(draw >> 10) % len(documents)][0]

    def _quote(self, draw: int) -> list[int]:
        sentences = self._model.find_sentences(self._prompt)
        if not sentences:
            return []
        first = draw % len(sentences)
        quoted = [token for part in sentences[first : first + 2] for token in part]
        return [*quoted, *self._model.tokenizer.encode('"')]
