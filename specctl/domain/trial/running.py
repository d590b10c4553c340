"""A trial as it runs: its plan, its launches, and what comes next."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain.probe import VoidKind
from specctl.domain.trial.blocks import Answer, Block
from specctl.domain.trial.looks import Word
from specctl.domain.trial.order import launch_order
from specctl.domain.trial.predicting import NOT_KEPT, Predicted
from specctl.domain.trial.verdict import judge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.probe import ProbeResult, RequestResult
    from specctl.domain.training import TrainedOn
    from specctl.domain.trial.design import Design
    from specctl.domain.trial.order import Side
    from specctl.domain.trial.verdict import Verdict

TOLD_APART = (Word.FASTER, Word.SLOWER)
ATTEMPTS = 2
"""Launches that may be made for one place of the order: one, and one again."""


@dataclass(frozen=True, slots=True)
class Before:
    """A server that ran before a trial and is to run again after it."""

    launch_id: str
    profile: str
    port: int | None
    gpus: tuple[int, ...] | None
    """Asked for beside its profile; None where the profile says which."""


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """What a trial is, fixed before its first launch."""

    id: str
    host: str
    baseline: str
    profile: str
    workload: str
    workload_source: str
    """As it was named: a bundled one, or a file."""

    workload_sha256: str
    prompts: int
    temperature: float
    concurrencies: tuple[int, ...]
    """The first is the one that the verdict is about; the others share as much error again."""

    design: Design
    created_s: float
    recipes: tuple[str, str] = ("", "")
    """Hashes of the complete recipes of baseline and profile: a changed file ends the trial."""

    is_simulated: bool = False
    before: tuple[Before, ...] = ()
    predicted: tuple[Predicted, ...] = ()
    """By concurrency, from runs before it; empty where none was kept."""

    budget_until_s: float | None = None
    """When its budget is used up, by the operator's clock, Unix seconds; None without one."""

    trained_on: TrainedOn | None = None
    """What every launch is sent before each window; None: it is measured cold."""

    training_source: str = ""
    """As the training set was named."""

    @property
    def order(self) -> tuple[Side, ...]:
        """Of all launches that the plan allows."""
        return launch_order(self.design.most_launches)

    def predicted_at(self, concurrency: int) -> Predicted:
        """What was expected there, or why nothing was."""
        known = {one.concurrency: one for one in self.predicted}
        return known.get(concurrency, Predicted(concurrency, missing=NOT_KEPT))

    def name(self, side: Side) -> str:
        """The profile of an arm."""
        return self.baseline if side == "A" else self.profile


@dataclass(frozen=True, slots=True)
class TrialBlock:
    """One launch of one arm and what was measured on it."""

    place: int
    """In the order of the trial, from 0."""

    attempt: int
    """From 0."""

    side: Side
    launch_id: str
    began_s: float
    ended_s: float
    results: tuple[ProbeResult, ...] = ()
    """One per concurrency, as far as it got."""

    failure: str = ""
    """What became of the launch instead: a failed start, a crash, an interruption."""

    is_arms_doing: bool = False
    """`failure` is a result of the arm, not an accident around it."""

    load_s: float | None = None
    kv_tokens: int | None = None
    """Tokens that the server's KV cache holds."""

    most_requests: int | None = None
    """That the server runs at once."""

    draft_steps: int | None = None
    """That the server resolved; None without drafts that are made in steps, or not said."""

    recorded_step_s: Mapping[str, float] = field(default_factory=dict)
    """Batch size to the median step that the server itself recorded."""

    @property
    def middle_s(self) -> float:
        """Of the block's clock time."""
        return (self.began_s + self.ended_s) / 2


@dataclass(frozen=True, slots=True)
class Next:
    """The launch that comes next."""

    place: int
    attempt: int
    side: Side


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a trial is."""

    verdicts: Mapping[int, Verdict]
    """By concurrency."""

    next: Next | None
    """None: it has ended."""

    ended: str = ""
    """Why, when it ended without all of its launches and without a word."""

    lost: Mapping[str, int] = field(default_factory=dict)
    """Launches that could not be used, by reason."""


def stand(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> Standing:
    """The verdicts so far and what comes next; the same for the same blocks, anywhere."""
    kept = kept_blocks(plan, blocks)
    pairs = _complete_pairs(plan, kept)
    verdicts = _judge_all(plan, pairs)
    lost = Counter(_loss(plan, block) for block in blocks if not is_kept(plan, block))
    primary = verdicts[plan.concurrencies[0]]
    if primary.word is not None:
        return Standing(verdicts, None, lost=lost)
    following, ended = _following(plan, blocks, kept)
    return Standing(verdicts, following, ended, lost)


def _judge_all(plan: TrialPlan, pairs: Sequence[TrialBlock]) -> dict[int, Verdict]:
    """The first concurrency by the whole error; the others, a family of their own, by Holm.

    Holm 1979: a concurrency that is called faster or slower leaves its part of the error to those
    that are not. Equality leaves nothing: it is another hypothesis.
    """
    primary, *waiting = plan.concurrencies
    found = {primary: _judge_at(plan, pairs, primary, plan.design)}
    while waiting:
        design = plan.design.shared_by(len(waiting))
        now = {one: _judge_at(plan, pairs, one, design) for one in waiting}
        told_apart = [one for one in waiting if now[one].word in TOLD_APART]
        settled = told_apart or waiting
        found |= {one: now[one] for one in settled}
        waiting = [one for one in waiting if one not in settled]
    return {concurrency: found[concurrency] for concurrency in plan.concurrencies}


def _judge_at(
    plan: TrialPlan, pairs: Sequence[TrialBlock], concurrency: int, design: Design
) -> Verdict:
    return judge(blocks_at(plan, pairs, concurrency), design, asked=plan.prompts)


def is_kept(plan: TrialPlan, block: TrialBlock) -> bool:
    """It was measured at every concurrency, and nothing from outside touched it."""
    if block.failure or len(block.results) < len(plan.concurrencies):
        return False
    kinds = {kind for result in block.results for kind in result.void_kinds}
    return kinds <= {VoidKind.ARM}


def kept_blocks(plan: TrialPlan, blocks: Sequence[TrialBlock]) -> dict[int, TrialBlock]:
    """By place: the last attempt that may be used."""
    return {block.place: block for block in blocks if is_kept(plan, block)}


def _complete_pairs(plan: TrialPlan, kept: Mapping[int, TrialBlock]) -> list[TrialBlock]:
    """Up to the first place that is not there, whole pairs only, in their order."""
    there = 0
    while there < len(plan.order) and there in kept:
        there += 1
    return [kept[place] for place in range(there - there % 2)]


def blocks_at(plan: TrialPlan, blocks: Sequence[TrialBlock], concurrency: int) -> tuple[Block, ...]:
    """The answers of these launches at one concurrency."""
    place = plan.concurrencies.index(concurrency)
    return tuple(_block(block, block.results[place]) for block in blocks)


def _block(block: TrialBlock, result: ProbeResult) -> Block:
    disturbed = result.void[0] if result.void else ""
    return Block(block.side, block.middle_s, answers_of(result), disturbed)


def answers_of(result: ProbeResult) -> dict[str, Answer]:
    """By prompt: what the analysis can take of a window."""
    return {
        str(request.index): answer
        for request in result.requests
        if (answer := answer_of(request)) is not None
    }


def answer_of(request: RequestResult) -> Answer | None:
    """A request as the analysis takes it; None when it failed or gave nothing to time."""
    if request.error is not None or request.completion_tokens is None:
        return None
    total_s = request.server_latency_s or request.client_latency_s
    tokens = request.completion_tokens - 1
    if tokens < 1 or total_s <= 0:
        return None
    first_s = request.server_ttft_s if request.server_latency_s is not None else request.ttft_s
    if first_s is not None and not 0 < first_s < total_s:
        first_s = None
    return Answer(total_s, tokens, first_s)


def _following(
    plan: TrialPlan, blocks: Sequence[TrialBlock], kept: Mapping[int, TrialBlock]
) -> tuple[Next | None, str]:
    tried = Counter(block.place for block in blocks)
    open_places = [place for place in range(len(plan.order)) if place not in kept]
    if not open_places:
        return None, ""
    place = open_places[0]
    again = sum(count - 1 for count in tried.values() if count > 1)
    if tried[place] >= ATTEMPTS:
        last = [block for block in blocks if block.place == place][-1]
        name = plan.name(last.side)
        return None, f"launch {place + 1} ({name}) failed twice: {_loss(plan, last)}"
    if tried[place] and again >= max(1, plan.design.most_launches // 2):
        return None, f"the host is not quiet enough: {again} launches had to be measured again"
    return Next(place, tried[place], plan.order[place]), ""


def _loss(plan: TrialPlan, block: TrialBlock) -> str:
    if block.failure:
        return f"{plan.name(block.side)}: {block.failure}"
    reasons = [
        words
        for result in block.results
        for words, kind in zip(result.void, result.void_kinds, strict=True)
        if kind is not VoidKind.ARM
    ]
    return reasons[0] if reasons else f"{plan.name(block.side)}: not measured to the end"


def final_word(plan: TrialPlan, standing: Standing) -> Word | None:
    """Of the primary concurrency; not enough evidence for a trial that could not go on."""
    word = standing.verdicts[plan.concurrencies[0]].word
    if word is None and standing.next is None and standing.ended:
        return Word.NOT_ENOUGH_EVIDENCE
    return word
