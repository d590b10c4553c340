"""Words that can stand for each other, so that answers differ more than the documents do."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from specctl.lab.corpus import read_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specctl.lab.tokenizer import Tokenizer

_FORMS = ("{}", " {}")


class Variation:
    """Which tokens may be replaced by which: words of a class, numbers of as many digits."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def find_equals(self, token: int) -> Sequence[int]:
        """The tokens that `token` may become, itself included; empty if it is never replaced."""
        return self._equals.get(token, ())

    @cached_property
    def _equals(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for words in self._list_classes():
            for form in _FORMS:
                encoded = [self._tokenizer.encode(form.format(word)) for word in words]
                tokens = [ids[0] for ids in encoded if len(ids) == 1]
                for token in tokens:
                    found.setdefault(token, tokens)
        return found

    def _list_classes(self) -> Iterator[Sequence[str]]:
        for words in read_classes():
            yield words
            yield [word.capitalize() for word in words if word.islower()]
        for digits in (1, 2, 3):
            yield [str(number) for number in range(10 ** (digits - 1), 10**digits)]
