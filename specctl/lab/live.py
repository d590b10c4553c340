"""A request inside the engine, and what ends it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.lab.requests import Account, Finish, FinishKind, Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.kv_cache import Lease
    from specctl.lab.text_model import Continuation
    from specctl.lab.tokenizer import Tokenizer


@dataclass(slots=True, eq=False)
class Live:
    """One request from its arrival to its end."""

    request: Request
    account: Account
    answer: Continuation
    most_tokens: int
    """`max_new_tokens`, cut to what the context and the KV cache have room for."""

    output: list[int] = field(default_factory=list)
    lease: Lease | None = None
    computed: int = 0
    """Tokens of the text whose KV exists."""

    @property
    def text(self) -> tuple[int, ...]:
        """Prompt and output."""
        return (*self.request.tokens, *self.output)

    @property
    def length(self) -> int:
        """Of prompt and output."""
        return len(self.request.tokens) + len(self.output)

    @property
    def tokens_left(self) -> int:
        """That it may still put out."""
        return max(0, self.most_tokens - len(self.output))

    def tail(self, count: int) -> list[int]:
        """The last `count` tokens of the text."""
        if len(self.output) >= count:
            return self.output[-count:]
        return [*self.request.tokens[len(self.output) - count :], *self.output]


def accept(live: Live, tokens: Sequence[int], tokenizer: Tokenizer) -> tuple[int, Finish | None]:
    """Put `tokens` out as far as nothing ends the request; how many, and what ended it.

    Within one step a stop string counts before a stop token, and both before the length.
    """
    before = len(live.output)
    live.output += tokens
    finish, length = _find_end(live, before, tokenizer)
    del live.output[min(length, live.most_tokens) :]
    live.account.completion_tokens = len(live.output)
    return len(live.output) - before, finish


def _find_end(live: Live, before: int, tokenizer: Tokenizer) -> tuple[Finish | None, int]:
    request = live.request
    for place in range(before, len(live.output)) if request.stop else ():
        found = _find_stop_string(live, before, place, tokenizer)
        if found is not None:
            return Finish(FinishKind.STOP, matched=found), place + 1
    if not request.ignore_eos:
        ends = tokenizer.eos_ids | request.stop_token_ids
        for place in range(before, len(live.output)):
            if live.output[place] in ends:
                return Finish(FinishKind.STOP, matched=live.output[place]), place + 1
    if len(live.output) >= live.most_tokens:
        return Finish(FinishKind.LENGTH, length=live.most_tokens), live.most_tokens
    return None, len(live.output)


def _find_stop_string(live: Live, before: int, place: int, tokenizer: Tokenizer) -> str | None:
    """The stop string that the text up to `place` contains, as far as it was not there before."""
    stops = live.request.stop
    start = max(0, before - max(map(len, stops)) - 1)
    text = tokenizer.decode(live.output[start : place + 1])
    return next((stop for stop in stops if stop and stop in text), None)
