"""What an external corpus would bring to n-gram drafts, and which of its documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.forecast.replay import add_up, replay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.forecast.reading import NgramReading
    from specctl.domain.forecast.transcripts import Transcript
    from specctl.domain.ngram.settings import NgramSettings

MOST_TOKENS = 20_000
"""Of transcripts that a corpus is tried on."""

SHARED_TOKENS = 6
"""A document and an output that share a run of so many tokens may have to do with each other."""

MOST_DOCUMENTS = 5
"""That are tried apart."""

MATERIAL = 0.05
"""A corpus that lengthens what is accepted by less changes nothing."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text of an external corpus."""

    name: str
    """`FILE:LINE`."""

    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """What an external corpus would bring, on the held-out transcripts."""

    name: str
    documents: int
    tokens: int
    accept_length: float | None
    without: float | None
    """The accept length of the same transcripts without it."""

    changes_the_answer: bool


def first_tokens(transcripts: Sequence[Transcript], most: int) -> tuple[Transcript, ...]:
    """As many of the first transcripts as hold `most` output tokens; one at least."""
    kept: list[Transcript] = []
    for one in transcripts:
        most -= len(one.output)
        if kept and most < 0:
            break
        kept.append(one)
    return tuple(kept)


def corpus_budget(settings: NgramSettings) -> int:
    """What the profile gives to corpora, else half of the drafts."""
    return settings.external_sam_budget or max(1, (settings.num_draft_tokens - 1) // 2)


def try_corpora(
    reading: NgramReading,
    given: Sequence[Document],
    training: Sequence[Transcript],
    held_out: Sequence[Transcript],
    concurrency: int,
) -> tuple[CorpusRow, ...]:
    """The given documents together and apart, and the prompts of the other half."""
    if not reading.can_take_corpora or reading.settings.num_draft_tokens <= 1:
        return ()
    measured = first_tokens(held_out, MOST_TOKENS)
    settings = replace(reading.settings, external_sam_budget=corpus_budget(reading.settings))

    def accept(documents: Sequence[Sequence[int]]) -> float | None:
        return add_up(
            replay(
                measured,
                settings if documents else reading.settings,
                concurrency=concurrency,
                corpora={"corpus": documents} if documents else {},
                is_one_step_stale=reading.is_one_step_stale,
            )
        ).accept_length

    without = accept(())
    rows = []
    given = [one for one in given if one.tokens]
    if given:
        rows.append(_corpus("all given documents", given, without, accept))
    if len(given) > 1:
        near = [one for one in rank(given, measured) if one.tokens][:MOST_DOCUMENTS]
        rows += [_corpus(one.name, [one], without, accept) for one in near]
    prompts = [Document("", one.prompt) for one in first_tokens(training, MOST_TOKENS)]
    prompts = [one for one in prompts if one.tokens]
    if prompts:
        rows.append(_corpus("prompts of the other half", prompts, without, accept))
    return tuple(rows)


def _corpus(
    name: str,
    documents: Sequence[Document],
    without: float | None,
    accept: Callable[[Sequence[Sequence[int]]], float | None],
) -> CorpusRow:
    found = accept([one.tokens for one in documents])
    changes = bool(found and without and abs(found / without - 1) > MATERIAL)
    tokens = sum(len(one.tokens) for one in documents)
    return CorpusRow(name, len(documents), tokens, found, without, changes)


def rank(documents: Sequence[Document], transcripts: Sequence[Transcript]) -> list[Document]:
    """Those that share runs of tokens with the outputs, the one that shares most first."""
    runs: Counter[tuple[int, ...]] = Counter()
    for one in transcripts:
        runs.update(_runs(one.output))
    shared = {id(one): sum(runs[run] for run in set(_runs(one.tokens))) for one in documents}
    ordered = sorted(documents, key=lambda one: -shared[id(one)])
    return [one for one in ordered if shared[id(one)]]


def _runs(tokens: Sequence[int]) -> list[tuple[int, ...]]:
    last = len(tokens) - SHARED_TOKENS + 1
    return [tuple(tokens[place : place + SHARED_TOKENS]) for place in range(last)]
