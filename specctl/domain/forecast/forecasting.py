"""What SGLang's n-gram speculation would do on transcripts: everything a forecast says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.acceptance import conditional_acceptance
from specctl.domain.cost import WORTH_MARGIN
from specctl.domain.errors import UsageError
from specctl.domain.forecast.advice import CostTable, explore, pay, suggest
from specctl.domain.forecast.answer import CategoryEstimate, Estimate, Forecast, SettingRow
from specctl.domain.forecast.corpora import Document, corpus_budget, first_tokens, try_corpora
from specctl.domain.forecast.replay import add_up, by_category, replay, replay_on
from specctl.domain.forecast.traffic import ends_in_a_loop, looks_random
from specctl.domain.ngram.matcher import Matcher

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.domain.forecast.advice import Variant
    from specctl.domain.forecast.reading import NgramReading
    from specctl.domain.forecast.replay import Acceptance, Replayed
    from specctl.domain.forecast.transcripts import Transcript

NODE_BYTES = 176
"""Of a node of the trie (0.5.23); every rank takes all that the capacity allows at its start."""

FEWEST = 20
"""Answers that speak for traffic like them: accept length varies from prompt to prompt by about a
fifth, so its standard error is 4 % at 20 and 3 % at 40."""

SENSITIVE_TOKENS = 20_000
"""Other settings are replayed on transcripts of so many tokens."""

RANDOM_OUTPUTS = (
    "the outputs look like random token ids: nothing repeats in them as it does in text, so the "
    "forecast says nothing of real traffic"
)
RANDOM_PROMPTS = (
    "the prompts look like random token ids: what a model answers to them is not what it answers "
    "to people"
)
ALL_LOOP = (
    "every answer ends in a loop: a model that repeats itself makes n-gram drafts look good, and "
    "nobody wants what it says"
)
GREEDY = "holds for temperature 0; sampling lowers it"


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be forecast."""

    transcripts: Sequence[Transcript]
    reading: NgramReading
    concurrency: int = 1
    documents: Sequence[Document] = ()
    costs: CostTable | None = None
    base_s: float | None = None
    """Of a plain step, where no cost of a verify step is known."""


def forecast(question: Question, tell: Callable[[str], None] = lambda _: None) -> Forecast:
    """Replay everything but loops; `tell` is told what begins.

    Raises UsageError when every answer ends in a loop.
    """
    reading = question.reading
    transcripts = tuple(one for one in question.transcripts if not ends_in_a_loop(one.output))
    looping = len(question.transcripts) - len(transcripts)
    if not transcripts:
        raise UsageError(ALL_LOOP, hint="Take answers that a model gave to real requests.")
    settings, concurrency = reading.settings, question.concurrency
    tell("replaying all transcripts, cold")
    matcher = Matcher(settings)
    stale = reading.is_one_step_stale
    cold = replay_on(matcher, transcripts, concurrency, is_one_step_stale=stale)
    training, held_out = split(transcripts)
    tell("replaying one half after the other")
    before = _serve(held_out, reading, concurrency) if training else ()
    after = _serve(held_out, reading, concurrency, training) if training else ()
    sample = first_tokens(transcripts, SENSITIVE_TOKENS)
    tell("replaying other settings")
    variants = explore(sample, settings, concurrency=concurrency, is_one_step_stale=stale)
    tell("looking for what an external corpus would bring")
    corpora = try_corpora(
        reading, question.documents, training, held_out or transcripts, concurrency
    )
    random = _random(transcripts)
    found = _Costs(question, add_up(cold), add_up(after) if after else None)
    return Forecast(
        settings=settings,
        version=reading.version,
        is_version_assumed=reading.is_version_assumed,
        is_one_step_stale=reading.is_one_step_stale,
        concurrency=concurrency,
        cold=_estimate(add_up(cold)),
        held_out=_estimate(add_up(before)) if before else None,
        warm=_estimate(add_up(after)) if after else None,
        trained_on=len(training),
        categories=_categories(cold, after),
        other_settings=tuple(_setting(one, question.costs) for one in variants),
        other_settings_tokens=sum(len(one.output) for one in sample),
        suggested=suggest(variants, question.costs).change,
        corpora=corpora,
        corpus_budget=corpus_budget(settings),
        trie_nodes=matcher.nodes,
        trie_bytes=settings.capacity * NODE_BYTES,
        base_ms=found.base_ms,
        step_ms=found.step_ms,
        break_even=found.break_even,
        predicted_speedup=found.cold,
        predicted_speedup_warm=found.warm,
        is_worth_trying=None if random else found.is_worth_trying,
        most_step_ms=found.most_step_ms,
        cost_source=question.costs.source if question.costs else None,
        looping=looping,
        is_random=bool(random),
        notes=(*random, *_few(len(transcripts)), *_looping(looping), *reading.notes, GREEDY),
    )


def _serve(
    transcripts: Sequence[Transcript],
    reading: NgramReading,
    concurrency: int,
    warm_up: Sequence[Transcript] = (),
) -> tuple[Replayed, ...]:
    return replay(
        transcripts,
        reading.settings,
        concurrency=concurrency,
        warm_up=warm_up,
        is_one_step_stale=reading.is_one_step_stale,
    )


def split(
    transcripts: Sequence[Transcript],
) -> tuple[tuple[Transcript, ...], tuple[Transcript, ...]]:
    """(to learn from, held out), each category alternating; equal outputs stay in one half.

    Nothing to learn from when all outputs are the same.
    """
    sides: dict[tuple[int, ...], int] = {}
    next_side: dict[str, int] = {}
    for one in transcripts:
        if one.output not in sides:
            side = next_side.get(one.category, len(next_side) % 2)
            sides[one.output], next_side[one.category] = side, 1 - side
    if len(set(sides.values())) < 2:  # noqa: PLR2004 - one half would be empty
        return (), ()
    training, held_out = (
        tuple(one for one in transcripts if sides[one.output] == side) for side in (0, 1)
    )
    return training, held_out


def _estimate(found: Acceptance) -> Estimate:
    return Estimate(
        transcripts=found.transcripts,
        tokens=found.tokens,
        steps=found.steps,
        accept_length=found.accept_length,
        histogram=found.histogram,
        marginal_acceptance=found.marginal_acceptance,
        conditional_acceptance=conditional_acceptance(found.histogram),
    )


def _categories(cold: Sequence[Replayed], warm: Sequence[Replayed]) -> tuple[CategoryEstimate, ...]:
    warmed = by_category(warm)
    return tuple(
        CategoryEstimate(
            name, _estimate(found), _estimate(warmed[name]) if name in warmed else None
        )
        for name, found in by_category(cold).items()
    )


def _setting(variant: Variant, costs: CostTable | None) -> SettingRow:
    payoff = pay(variant.acceptance, variant.settings, costs) if costs else None
    return SettingRow(
        change=variant.change,
        accept_length=variant.acceptance.accept_length,
        draft_tokens=variant.settings.num_draft_tokens,
        break_even=payoff.break_even if payoff else None,
        predicted_speedup=payoff.speedup if payoff else None,
    )


class _Costs:
    """What costs say of a forecast; everything is None without them."""

    def __init__(self, question: Question, cold: Acceptance, warm: Acceptance | None) -> None:
        costs, settings = question.costs, question.reading.settings
        base_s = costs.base_s if costs else question.base_s
        step_s = costs.step_at(settings.num_draft_tokens) if costs else None
        both = [cold, *([warm] if warm else [])]
        best = max((one.accept_length or 0.0) for one in both)
        payoffs = [pay(one, settings, costs) if costs else None for one in both]
        self.base_ms = None if base_s is None else base_s * 1000
        self.step_ms = None if step_s is None else step_s * 1000
        self.break_even = step_s / base_s if step_s and base_s else None
        self.cold = payoffs[0].speedup if payoffs[0] else None
        last = payoffs[-1] if warm else None
        self.warm = last.speedup if last else None
        known = [one.speedup for one in payoffs if one is not None]
        self.is_worth_trying = max(known) > 1 + WORTH_MARGIN if known else None
        self.most_step_ms = best * base_s * 1000 if base_s else None


def _random(transcripts: Sequence[Transcript]) -> tuple[str, ...]:
    notes = []
    if looks_random(token for one in transcripts for token in one.output):
        notes.append(RANDOM_OUTPUTS)
    if looks_random(token for one in transcripts for token in one.prompt):
        notes.append(RANDOM_PROMPTS)
    return tuple(notes)


def _few(count: int) -> tuple[str, ...]:
    """A warning where so few answers say little of others."""
    if count >= FEWEST:
        return ()
    noun = "answer is" if count == 1 else "answers are"
    words = "other traffic may accept much more or less; take 40 or more, of every kind you serve"
    return (f"{count} {noun} too few to speak for others: {words}",)


def _looping(count: int) -> tuple[str, ...]:
    words = f"answers that end in a loop, left out because they make drafting look easy: {count}"
    return (words,) if count else ()
