"""Replays transcripts through the n-gram matcher as a server would, at temperature 0.

The target's choice is the transcript's next token, so a draft is accepted as far as it agrees with
the output. The prompt is never inserted, except for what of it the window of the first outputs
still reaches (every version from 0.5.3 to 0.5.23).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from specctl.domain.ngram.matcher import Matcher

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.forecast.transcripts import Transcript
    from specctl.domain.ngram.settings import NgramSettings

ONE_STEP_STALE_FROM = (0, 5, 14)
"""Since then the tokens of a step are inserted with the next one."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What one transcript came to."""

    category: str
    tokens: int
    """Emitted by verify steps: the output without the token that the prefill gives."""

    histogram: tuple[int, ...]
    """histogram[k] = verify steps that accepted exactly k drafts."""

    @property
    def steps(self) -> int:
        """Verify steps."""
        return sum(self.histogram)


@dataclass(slots=True)
class _Running:
    """A transcript on its way; `done` output tokens have been emitted."""

    transcript: Transcript
    rid: str
    done: int
    histogram: Counter[int]

    def tail(self, length: int, upto: int) -> tuple[int, ...]:
        """The last `length` tokens of the text up to output token `upto`."""
        output = self.transcript.output[max(0, upto - length) : upto]
        rest = length - len(output)
        return (*self.transcript.prompt[-rest:], *output) if rest else output

    @property
    def is_done(self) -> bool:
        return self.done >= len(self.transcript.output)


def replay(
    transcripts: Sequence[Transcript],
    settings: NgramSettings,
    *,
    concurrency: int = 1,
    corpora: Mapping[str, Sequence[Sequence[int]]] | None = None,
    warm_up: Sequence[Transcript] = (),
    is_one_step_stale: bool = True,
) -> tuple[Replayed, ...]:
    """What each transcript comes to, in order; `warm_up` is replayed before and not counted.

    With `concurrency`, so many run at once and a free place is taken by the next.
    """
    matcher = Matcher(settings)
    for name, documents in (corpora or {}).items():
        matcher.add_corpus(name, documents)
    replay_on(matcher, warm_up, concurrency, is_one_step_stale=is_one_step_stale)
    return replay_on(matcher, transcripts, concurrency, is_one_step_stale=is_one_step_stale)


def replay_on(
    matcher: Matcher,
    transcripts: Sequence[Transcript],
    concurrency: int = 1,
    *,
    is_one_step_stale: bool = True,
) -> tuple[Replayed, ...]:
    """What each transcript comes to on a matcher that may have seen others; it learns from them."""
    waiting = [_Running(one, f"{number}", 1, Counter()) for number, one in enumerate(transcripts)]
    everything = tuple(waiting)
    running: list[_Running] = []
    waiting.reverse()
    while waiting or running:
        while waiting and len(running) < concurrency:
            running.append(waiting.pop())
        _step(matcher, running, is_one_step_stale=is_one_step_stale)
        for one in running:
            if one.is_done:
                matcher.forget(one.rid)
        running = [one for one in running if not one.is_done]
    return tuple(_replayed(one) for one in everything)


def _step(matcher: Matcher, running: Sequence[_Running], *, is_one_step_stale: bool) -> None:
    """One verify step of everything that runs; drafts first, as a batch is drafted at once."""
    depth = matcher.settings.max_trie_depth
    before = [one.done for one in running]
    for one in running:
        if one.is_done:
            continue
        text = len(one.transcript.prompt) + one.done
        tree = matcher.draft(one.rid, one.tail(depth, one.done), text)
        accepted = tree.count_accepted(one.transcript.output[one.done :])
        left = len(one.transcript.output) - one.done
        one.histogram[min(accepted, left - 1)] += 1
        one.done += min(accepted + 1, left)
    for one, done in zip(running, before, strict=True):
        matcher.insert(one.tail(depth, done if is_one_step_stale else one.done))


def _replayed(one: _Running) -> Replayed:
    places = max(one.histogram, default=-1) + 1
    histogram = tuple(one.histogram[k] for k in range(places))
    return Replayed(one.transcript.category, max(0, len(one.transcript.output) - 1), histogram)


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What several transcripts come to together."""

    transcripts: int
    tokens: int
    steps: int
    accept_length: float | None
    """Tokens per verify step; None without a step."""

    histogram: tuple[int, ...]

    @property
    def marginal_acceptance(self) -> tuple[float, ...]:
        """Share of the steps that accepted at least 1, 2, 3 … drafts."""
        if not self.steps:
            return ()
        return tuple(sum(self.histogram[k:]) / self.steps for k in range(1, len(self.histogram)))


def add_up(replayed: Sequence[Replayed]) -> Acceptance:
    """All of them together: per step, so long outputs weigh more."""
    tokens, steps = sum(one.tokens for one in replayed), sum(one.steps for one in replayed)
    columns = zip_longest(*(one.histogram for one in replayed), fillvalue=0)
    return Acceptance(
        transcripts=len(replayed),
        tokens=tokens,
        steps=steps,
        accept_length=tokens / steps if steps else None,
        histogram=tuple(sum(column) for column in columns),
    )


def by_category(replayed: Sequence[Replayed]) -> dict[str, Acceptance]:
    """Each category apart, in the order of its first transcript."""
    names = dict.fromkeys(one.category for one in replayed)
    return {name: add_up([one for one in replayed if one.category == name]) for name in names}
