"""Where the answers of two arms part first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.kept_output import text_parting, token_parting, unpack_output
from specctl.domain.text import clean
from specctl.domain.trial.running import kept_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.kept_output import Place
    from specctl.domain.probe import RequestResult
    from specctl.domain.trial.running import TrialBlock, TrialPlan

NOT_KEPT = "at which token is not known: what was said was not kept"
BEYOND = "at which token is not known: not among the first that are kept"


@dataclass(frozen=True, slots=True)
class Parting:
    """The first prompt that two launches answer differently."""

    prompt: int
    """From 1, in the order of the workload."""

    category: str
    launches: tuple[int, int]
    """Of the baseline and of the other arm, by place from 1."""

    tokens: tuple[int | None, int | None]
    """That each said."""

    finishes: tuple[str | None, str | None]
    token: int | None = None
    """The first that differs, from 1; None where the server gave no ids or `unknown` says why."""

    token_ids: tuple[int | None, int | None] = (None, None)
    """There; None where that answer has ended."""

    character: int | None = None
    """Of the text, from 1; None where it was not kept or does not part."""

    texts: tuple[str | None, str | None] = (None, None)
    """Around that character; None where that answer has ended."""

    unknown: str | None = None
    """Why neither place is known."""

    @property
    def words(self) -> str:
        """One sentence, safe to show."""
        a, b = self.launches
        lengths = " and ".join("—" if count is None else f"{count:,}" for count in self.tokens)
        ends = sorted({finish for finish in self.finishes if finish})
        ended = f", ended by {' and '.join(ends)}" if ends else ""
        return (
            f"first apart: prompt {self.prompt} ({self.category}) in launches {a} and {b}, "
            f"{lengths} tokens{ended}; {self._place_words()}"
        )

    def _place_words(self) -> str:
        parts = []
        if self.token is not None:
            one, two = ("the end" if i is None else f"id {i}" for i in self.token_ids)
            parts.append(f"at token {self.token:,}: {one} and {two}")
        if self.character is not None:
            texts = ("the end" if text is None else f"“{text}”" for text in self.texts)
            parts.append(f"at character {self.character:,}: {' and '.join(texts)}")
        return ", ".join(parts) or self.unknown or NOT_KEPT


def first_parting(
    plan: TrialPlan, blocks: Sequence[TrialBlock], concurrency: int | None = None
) -> Parting | None:
    """At one concurrency, the primary one unless named.

    None where every compared answer is the same, and where answers are sampled.
    """
    if plan.temperature != 0:
        return None
    level = 0 if concurrency is None else plan.concurrencies.index(concurrency)
    kept = [block for _, block in sorted(kept_blocks(plan, blocks).items())]
    base = [(b.place, _answers(b, level)) for b in kept if b.side == "A"]
    other = [(b.place, _answers(b, level)) for b in kept if b.side == "B"]
    found = [
        (index, at, to, left[index], right[index])
        for at, left in base
        for to, right in other
        for index in left.keys() & right.keys()
        if left[index].text_sha256 != right[index].text_sha256
    ]
    if not found:
        return None
    index, at, to, one, two = min(found, key=lambda pair: pair[:3])
    return _parting(index + 1, (at + 1, to + 1), one, two)


def _parting(
    prompt: int, launches: tuple[int, int], one: RequestResult, two: RequestResult
) -> Parting:
    left, right = unpack_output(one.output), unpack_output(two.output)
    token = token_parting(left, right) if left and right else None
    text = text_parting(left, right) if left and right else None
    why = None if token or text else BEYOND if left and right else NOT_KEPT
    return Parting(
        prompt=prompt,
        category=one.category,
        launches=launches,
        tokens=(one.completion_tokens, two.completion_tokens),
        finishes=(one.finish, two.finish),
        token=_from_one(token),
        token_ids=(_id(token.left), _id(token.right)) if token else (None, None),
        character=_from_one(text),
        texts=(_shown(text.left), _shown(text.right)) if text else (None, None),
        unknown=why,
    )


def _from_one(place: Place | None) -> int | None:
    return None if place is None else place.index + 1


def _id(text: str | None) -> int | None:
    return None if text is None else int(text)


def _shown(text: str | None) -> str | None:
    """One safe line; a line break is shown as what it is."""
    return None if text is None else clean(text.replace("\r", "␍").replace("\n", "⏎"))


def _answers(block: TrialBlock, level: int) -> dict[int, RequestResult]:
    """By prompt, of one concurrency; failed requests have none."""
    requests = block.results[level].requests if len(block.results) > level else ()
    return {r.index: r for r in requests if r.error is None and r.text_sha256 is not None}
