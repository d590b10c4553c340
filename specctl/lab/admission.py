"""Who is prefilled next: first come first served, as far as there is room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.lab.kv_cache import KvCache
    from specctl.lab.live import Live
    from specctl.lab.setting import Setting

CLIPPED_NEW_TOKENS = 4096
"""More new tokens than this are not reserved for a request, whatever it may ask for."""

_FIRST_RATIO, _LEAST_RATIO, _DECAY_STEPS = 0.7, 0.7 * 0.14, 600
_SPARE_STEPS = 20


@dataclass(slots=True)
class Reserve:
    """Which share of the new tokens that running requests may ask for is kept free.

    It falls with every decode step that fits, and rises when requests had to be retracted.
    """

    ratio: float = _FIRST_RATIO

    def relax(self) -> None:
        """A decode step fitted."""
        self.ratio = max(_LEAST_RATIO, self.ratio - (_FIRST_RATIO - _LEAST_RATIO) / _DECAY_STEPS)

    def tighten(self, running: Sequence[Live]) -> None:
        """Requests were retracted; `running` are left."""
        done = sum(len(live.output) for live in running) + _SPARE_STEPS * len(running)
        self.ratio = min(1.0, done / (sum(live.most_tokens for live in running) + 1))

    def reset(self) -> None:
        """Nothing is running."""
        self.ratio = _FIRST_RATIO

    def count(self, running: Sequence[Live]) -> float:
        """Slots kept free for `running`."""
        return sum(
            min(live.tokens_left, CLIPPED_NEW_TOKENS)
            * (1.0 if live.request.ignore_eos else self.ratio)
            for live in running
        )


@dataclass(slots=True)
class Chunk:
    """What a prefill step computes of one request."""

    live: Live
    tokens: int
    cached: int
    is_last: bool


def choose_chunks(
    setting: Setting,
    cache: KvCache,
    reserve: Reserve,
    *,
    begun: Live | None,
    waiting: Sequence[Live],
    running: Sequence[Live],
) -> list[Chunk]:
    """The next prefill batch: the prompt that was `begun`, then those waiting, in order.

    Empty when nothing waits or the first of them does not fit. Nothing is taken yet.
    """
    chunk_left = setting.chunked_prefill_size if setting.chunked_prefill_size > 0 else 1 << 62
    chunks: list[Chunk] = []
    if begun is not None:
        tokens = min(begun.length - begun.computed, chunk_left)
        chunks.append(Chunk(begun, tokens, 0, begun.computed + tokens == begun.length))
        chunk_left -= tokens
    input_left = setting.max_prefill_tokens
    room = cache.available - reserve.count(running) - sum(chunk.tokens for chunk in chunks)
    for live in waiting:
        if len(running) + len(chunks) >= setting.max_running_requests or chunk_left <= 0:
            break
        cached, locking = cache.look_up(live.text)
        needed = live.length - cached
        taken = needed + locking + min(live.tokens_left, CLIPPED_NEW_TOKENS)
        if taken > room:
            break
        if chunks and needed > input_left:
            break
        tokens = min(needed, chunk_left)
        chunks.append(Chunk(live, tokens, cached, tokens == needed))
        chunk_left -= tokens
        input_left -= tokens
        room -= taken
    return chunks
