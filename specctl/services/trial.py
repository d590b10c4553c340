"""Runs a trial: launch after launch, until a word can be said or the plan is used up."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl.domain.errors import RefusedError, SpecctlError
from specctl.domain.events import TrialProgressed
from specctl.domain.figures import spoken
from specctl.domain.plan import all_next_steps, all_words
from specctl.domain.runs import Run, RunKind
from specctl.domain.trial.running import TrialBlock, final_word, kept_blocks, stand
from specctl.domain.trial.trial_json import block_json, block_of, plan_json, plan_of
from specctl.services.arm import Bench, run_arm
from specctl.services.cancelling import take_back_cancelling
from specctl.services.locks import hold_locks
from specctl.services.mutating import mutating
from specctl.services.provenance import with_arguments
from specctl.services.putting_back import provenance_or_put_back, put_back, putting_back
from specctl.services.seen_arms import SeenArms

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.ledger import Ledger
    from specctl.adapters.secrets import Secrets
    from specctl.domain.comparison import Unasked
    from specctl.domain.runs import Provenance
    from specctl.domain.state import Store
    from specctl.domain.trial.running import Next, Standing, TrialPlan
    from specctl.services.connection import Connection
    from specctl.services.trial_plan import Proposal

INTERRUPTED = "interrupted"
PAUSE_MOST_S = 3600.0
"""A pair whose first launch is older than this is measured again as a whole."""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """A trial that came to an end, or was interrupted."""

    plan: TrialPlan
    blocks: tuple[TrialBlock, ...]
    standing: Standing
    differences: tuple[Unasked, ...] = ()
    restored: tuple[str, ...] = ()
    is_interrupted: bool = False
    ended: str = ""
    """Why, beside what the standing says: out of time, a server that could not be stopped."""


class TrialRun:
    """One trial on one host."""

    def __init__(
        self,
        connection: Connection,
        proposal: Proposal,
        *,
        secrets: Secrets,
        store: Store,
        clock: Clock,
        ledger: Ledger,
    ) -> None:
        self._connection, self._proposal = connection, proposal
        self._store, self._clock, self._ledger = store, clock, ledger
        first, *more = proposal.settings
        self.bench = Bench(connection, first, secrets, store, clock, more=tuple(more))
        self.blocks = list(_made(ledger, self.plan, clock.now()))
        self.seen = SeenArms(proposal.profiles)

    @property
    def plan(self) -> TrialPlan:
        """Of the trial."""
        return self._proposal.plan

    @property
    def left(self) -> list[str]:
        """Servers that could not be stopped, in words."""
        return self.bench.left

    async def run(self, budget_s: float | None) -> str:
        """Launch until the trial has ended; why, when something around it ended it."""
        until_s = None if budget_s is None else self._clock.monotonic() + budget_s
        standing = stand(self.plan, self.blocks)
        while standing.next is not None:
            if self._is_over(standing.next, until_s):
                return f"the budget of {spoken(budget_s or 0.0)} is used up"
            self._tell(standing, self._launch_words(standing.next))
            block = await self._measure(standing.next)
            self.blocks.append(block)
            self._ledger.add_block(self.plan.id, block_json(block))
            standing = stand(self.plan, self.blocks)
            self._tell(standing, block.failure or f"launch {block.place + 1} measured")
            if self.left:
                return self.left[0]
        return ""

    def _launch_words(self, following: Next) -> str:
        again = ", again" if following.attempt else ""
        return f"launch {following.place + 1}: {self.plan.name(following.side)}{again}"

    def _is_over(self, following: Next, until_s: float | None) -> bool:
        """Between pairs only, when the next pair would probably not end in time."""
        if until_s is None or following.place % 2 or not self.blocks:
            return False
        lengths = [block.ended_s - block.began_s for block in self.blocks]
        return self._clock.monotonic() + 2 * sum(lengths) / len(lengths) > until_s

    async def _measure(self, following: Next) -> TrialBlock:
        profile = self._proposal.profiles[0 if following.side == "A" else 1]
        began_s = self._clock.now()
        arm = await run_arm(self.bench, profile)
        failure = arm.failure or self.seen.find_changed(arm)
        self.seen.note(arm)
        results = () if arm.result is None else (arm.result, *arm.others)
        return TrialBlock(
            place=following.place,
            attempt=following.attempt,
            side=following.side,
            launch_id=arm.launch_id,
            began_s=began_s,
            ended_s=self._clock.now(),
            results=results,
            failure=failure,
            is_arms_doing=arm.is_own_failure,
            load_s=arm.load_s,
            kv_tokens=arm.max_total_tokens,
            most_requests=arm.max_running_requests,
            draft_steps=None if arm.algorithm in (None, "NGRAM") else arm.steps,
            recorded_step_s=arm.recorded_step_s,
        )

    def _tell(self, standing: Standing, words: str) -> None:
        verdict = standing.verdicts[self.plan.concurrencies[0]]
        look, word = verdict.clean.look, final_word(self.plan, standing)
        self._store.apply(
            TrialProgressed(
                host=self.plan.host,
                time_s=self._clock.now(),
                trial=self.plan.id,
                baseline=self.plan.baseline,
                profile=self.plan.profile,
                done=len(kept_blocks(self.plan, self.blocks)),
                most=len(self.plan.order),
                ratio=look.fit.ratio if look else None,
                low=look.low if look else None,
                high=look.high if look else None,
                word=word.value if word else None,
                words=words,
            )
        )


@mutating("a trial")
async def run_trial(
    connection: Connection,
    proposal: Proposal,
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
    ledger: Ledger,
    budget_s: float | None = None,
) -> TrialOutcome:
    """Carry a trial out, or on; cancelled, it restores what ran and tells so far.

    Every launch is in the ledger before the next begins, so a lost link loses one at most.
    """
    if proposal.refusals:
        words, hint = all_words(proposal.refusals), all_next_steps(proposal.refusals)
        raise RefusedError(f"host {proposal.plan.host}: {words}", hint=hint)
    process = f"specctl compare, trial {proposal.plan.id}"
    async with hold_locks(connection, proposal.lock_keys, process):
        return await carry_out(
            connection,
            proposal,
            secrets=secrets,
            store=store,
            clock=clock,
            ledger=ledger,
            budget_s=budget_s,
        )


async def carry_out(
    connection: Connection,
    proposal: Proposal,
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
    ledger: Ledger,
    budget_s: float | None,
) -> TrialOutcome:
    """As `run_trial`, for a caller that holds the locks already."""
    proposal = _with_budget(proposal, budget_s, clock)
    run = TrialRun(connection, proposal, secrets=secrets, store=store, clock=clock, ledger=ledger)
    provenance = await provenance_or_put_back(run.bench, proposal)
    ended, is_interrupted = "", False
    try:
        async with putting_back(run.bench, proposal, resume_words(proposal.plan.id)):
            _enter(ledger, proposal.plan, provenance, clock)
            ended = await run.run(budget_s)
    except asyncio.CancelledError:
        take_back_cancelling()
        is_interrupted = True
    restored = await put_back(run.bench, proposal.formers, proposal.left_over)
    standing = stand(run.plan, run.blocks)
    outcome = TrialOutcome(
        plan=run.plan,
        blocks=tuple(run.blocks),
        standing=standing,
        differences=run.seen.differences,
        restored=restored,
        is_interrupted=is_interrupted,
        ended=ended or standing.ended,
    )
    try:
        _keep(ledger, outcome, with_arguments(provenance, run.seen.arguments, None), clock)
    except SpecctlError as error:
        return replace(outcome, ended=f"{outcome.ended}; {error.message}".removeprefix("; "))
    return outcome


def _with_budget(proposal: Proposal, budget_s: float | None, clock: Clock) -> Proposal:
    """With the end of the budget that it is begun with, or goes on with."""
    until_s = None if budget_s is None else clock.now() + budget_s
    return replace(proposal, plan=replace(proposal.plan, budget_until_s=until_s))


def resume_words(run_id: str) -> str:
    """How a trial or a screening goes on."""
    return f"Go on with it: specctl compare --resume {run_id}"


def _enter(ledger: Ledger, plan: TrialPlan, provenance: Provenance, clock: Clock) -> None:
    """Into the ledger; where it is there already, with the plan it goes on by."""
    ledger.prepare()
    if not ledger.has_run(plan.id):
        ledger.add(_entry(plan, provenance, clock))
    elif plan_of(ledger.run(plan.id).document) != plan:
        ledger.plan_again(plan.id, plan_json(plan))


def _entry(plan: TrialPlan, provenance: Provenance, clock: Clock) -> Run:
    return Run(
        id=plan.id,
        kind=RunKind.TRIAL,
        host=plan.host,
        profiles=(plan.baseline, plan.profile),
        began_s=clock.now(),
        ended_s=None,
        outcome="",
        provenance=provenance,
        document=plan_json(plan),
    )


def _keep(ledger: Ledger, outcome: TrialOutcome, provenance: Provenance, clock: Clock) -> None:
    plan = outcome.plan
    word = final_word(plan, outcome.standing)
    words = INTERRUPTED if outcome.is_interrupted else word.value if word else "no verdict"
    ledger.end(plan.id, ended_s=clock.now(), outcome=words, provenance=provenance)
    for concurrency, verdict in outcome.standing.verdicts.items():
        if verdict.clean.look is None:
            continue
        for recipe in set(plan.recipes):
            ledger.keep_spread(
                plan.id,
                host=plan.host,
                recipe=recipe,
                concurrency=concurrency,
                at_s=clock.now(),
                launches=verdict.clean.look.launches,
                spread=verdict.clean.look.fit.spread,
                trained_on=plan.trained_on,
            )


def read_trial(ledger: Ledger, run_id: str) -> tuple[TrialPlan, tuple[TrialBlock, ...]]:
    """A trial as the ledger has it; raises UsageError when it is none."""
    run = ledger.run(run_id)
    if run.kind is not RunKind.TRIAL:
        raise RefusedError(f"run {run.id} is a {run.kind.value}, not a trial")
    return plan_of(run.document), tuple(block_of(block) for block in ledger.blocks(run.id))


def _made(ledger: Ledger, plan: TrialPlan, now_s: float) -> tuple[TrialBlock, ...]:
    """Launches of it in the ledger that it goes on from."""
    if not ledger.has_run(plan.id):
        return ()
    return resumable(plan, read_trial(ledger, plan.id)[1], now_s)


def resumable(
    plan: TrialPlan, blocks: tuple[TrialBlock, ...], now_s: float
) -> tuple[TrialBlock, ...]:
    """The launches a trial goes on from: an open pair that is over an hour old is redone whole."""
    kept = kept_blocks(plan, blocks)
    done = len([place for place in range(len(plan.order)) if place in kept])
    if done % 2 == 0 or now_s - kept[max(kept)].ended_s <= PAUSE_MOST_S:
        return blocks
    stale = max(kept)
    return tuple(
        replace(block, results=(), failure="the trial paused for over an hour")
        if block.place == stale
        else block
        for block in blocks
    )
