"""Screens several profiles, round after round, then tries the one that is left."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from specctl.domain.errors import RefusedError
from specctl.domain.events import TrialProgressed
from specctl.domain.figures import spoken
from specctl.domain.plan import all_next_steps, all_words
from specctl.domain.trial.screening_json import KeptScreening, screening_block_json
from specctl.domain.trial.screening_plan import ScreeningBlock, is_usable
from specctl.domain.trial.screening_running import stand_screening
from specctl.services.arm import Bench, run_arm
from specctl.services.cancelling import take_back_cancelling
from specctl.services.locks import hold_locks
from specctl.services.mutating import mutating
from specctl.services.provenance import with_arguments
from specctl.services.putting_back import provenance_or_put_back, put_back, putting_back
from specctl.services.screening_keeping import entry_of, keep_screening, made_launches
from specctl.services.screening_plan import confirming, confirming_again
from specctl.services.seen_arms import SeenArms
from specctl.services.trial import carry_out, read_trial, resume_words

if TYPE_CHECKING:
    from specctl.adapters.clock import Clock
    from specctl.adapters.ledger import Ledger
    from specctl.adapters.secrets import Secrets
    from specctl.domain.comparison import Unasked
    from specctl.domain.state import Store
    from specctl.domain.trial.screening_plan import ScreeningPlan
    from specctl.domain.trial.screening_running import NextLaunch, ScreeningStanding
    from specctl.services.connection import Connection
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial import TrialOutcome
    from specctl.services.trial_plan import Proposal


@dataclass(frozen=True, slots=True)
class ScreeningOutcome:
    """A screening that came to an end, and the trial that followed where there was time for it."""

    plan: ScreeningPlan
    blocks: tuple[ScreeningBlock, ...]
    standing: ScreeningStanding
    trial: TrialOutcome | None = None
    differences: tuple[Unasked, ...] = ()
    restored: tuple[str, ...] = ()
    is_interrupted: bool = False
    ended: str = ""
    """Why there was no trial: out of time, a server that could not be stopped, nobody left."""


class ScreeningRun:
    """One screening on one host."""

    def __init__(
        self,
        connection: Connection,
        proposal: ScreeningProposal,
        *,
        secrets: Secrets,
        store: Store,
        clock: Clock,
        ledger: Ledger,
        budget_s: float | None,
    ) -> None:
        self._proposal, self._store = proposal, store
        self._clock, self._ledger, self._budget_s = clock, ledger, budget_s
        self._until_s = None if budget_s is None else clock.monotonic() + budget_s
        self.bench = Bench(connection, proposal.settings[0], secrets, store, clock)
        self.blocks = list(made_launches(ledger, self.plan, clock.now()))
        self.seen = SeenArms(proposal.profiles)

    @property
    def plan(self) -> ScreeningPlan:
        """Of the screening."""
        return self._proposal.plan

    @property
    def left(self) -> list[str]:
        """Servers that could not be stopped, in words."""
        return self.bench.left

    @property
    def rest_s(self) -> float | None:
        """Of the budget."""
        return None if self._until_s is None else self._until_s - self._clock.monotonic()

    async def run(self) -> str:
        """Launch until the screening has ended; why, when something around it ended it."""
        standing = stand_screening(self.plan, self.blocks)
        while standing.next is not None:
            why = self._why_stop(standing)
            if why is not None:
                return why
            self._tell(standing, standing.next.arm, self._launch_words(standing.next))
            block = await self._measure(standing.next)
            self.blocks.append(block)
            self._ledger.add_block(self.plan.id, screening_block_json(block))
            words = block.failure or f"{block.arm} measured"
            self._tell(stand_screening(self.plan, self.blocks), block.arm, words)
            if self.left:
                return self.left[0]
            standing = stand_screening(self.plan, self.blocks)
        return standing.ended

    def _why_stop(self, standing: ScreeningStanding) -> str | None:
        """Between rounds: empty when time is better spent on the trial, words when it is over."""
        if standing.next is None or not standing.next.begins_round or self.rest_s is None:
            return None
        rest_s, round_s = self.rest_s, self._time_s(standing.in_round)
        if round_s is None or (standing.rounds and self._fits(rest_s - round_s)):
            return None
        if standing.rounds and self._fits(rest_s):
            return ""
        return None if round_s <= rest_s else self.over_words

    @property
    def over_words(self) -> str:
        """The budget is too small for what comes next."""
        return f"the budget of {spoken(self._budget_s or 0.0)} leaves no time for the trial"

    def has_time_for_trial(self) -> bool:
        """Its first look would come before the budget ends."""
        return self.rest_s is None or self._fits(self.rest_s)

    def _fits(self, rest_s: float) -> bool:
        design = self.plan.design
        needed_s = self._time_s(2 * min(design.first_look, design.most_launches))
        return needed_s is None or needed_s <= rest_s

    def _time_s(self, launches: int) -> float | None:
        """By the launches so far, else by earlier loads; None while nothing is known."""
        lengths = [one.ended_s - one.began_s for one in self.blocks]
        usual = fmean(lengths) if lengths else self._proposal.load_s
        return None if usual is None else launches * usual

    def _launch_words(self, following: NextLaunch) -> str:
        again = ", again" if following.attempt else ""
        return f"round {following.round + 1}: {following.arm}{again}"

    async def _measure(self, following: NextLaunch) -> ScreeningBlock:
        began_s = self._clock.now()
        arm = await run_arm(self.bench, self._proposal.profile(following.arm))
        failure = arm.failure or self.seen.find_changed(arm)
        self.seen.note(arm)
        tokens = arm.arguments.get("speculative_num_draft_tokens")
        return ScreeningBlock(
            round=following.round,
            attempt=following.attempt,
            arm=following.arm,
            launch_id=arm.launch_id,
            began_s=began_s,
            ended_s=self._clock.now(),
            result=arm.result,
            failure=failure,
            is_arms_doing=arm.is_own_failure,
            load_s=arm.load_s,
            steps=arm.steps,
            draft_tokens=tokens if isinstance(tokens, int) else None,
        )

    def announce(self, following: Proposal) -> None:
        """Say that the trial begins."""
        name = following.plan.profile
        words = f"{name} goes into trial {following.plan.id}"
        self._tell(stand_screening(self.plan, self.blocks), name, words)

    def _tell(self, standing: ScreeningStanding, arm: str, words: str) -> None:
        ranked = next(one for one in standing.ranking if one.profile == arm)
        self._store.apply(
            TrialProgressed(
                host=self.plan.host,
                time_s=self._clock.now(),
                trial=self.plan.id,
                baseline=self.plan.baseline,
                profile=arm,
                done=sum(is_usable(self.plan, block) for block in self.blocks),
                most=self.plan.most_launches,
                ratio=None if ranked.is_baseline else ranked.ratio,
                low=None,
                high=None,
                word=None,
                words=words,
            )
        )


@mutating("a screening")
async def run_screening(
    connection: Connection,
    proposal: ScreeningProposal,
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
    ledger: Ledger,
    budget_s: float | None = None,
) -> ScreeningOutcome:
    """Carry a screening and its trial out, or on; cancelled, it restores what ran and tells so far.

    Every launch is in the ledger before the next begins.
    """
    if proposal.refusals:
        words, hint = all_words(proposal.refusals), all_next_steps(proposal.refusals)
        raise RefusedError(f"host {proposal.plan.host}: {words}", hint=hint)
    process = f"specctl compare, screening {proposal.plan.id}"
    async with hold_locks(connection, proposal.lock_keys, process):
        run = ScreeningRun(
            connection, proposal, secrets=secrets, store=store, clock=clock, ledger=ledger,
            budget_s=budget_s,
        )  # fmt: skip
        return await _carry_out(
            connection, proposal, run, secrets=secrets, store=store, clock=clock, ledger=ledger
        )


async def _carry_out(
    connection: Connection,
    proposal: ScreeningProposal,
    run: ScreeningRun,
    *,
    secrets: Secrets,
    store: Store,
    clock: Clock,
    ledger: Ledger,
) -> ScreeningOutcome:
    provenance = await provenance_or_put_back(run.bench, proposal)
    async with putting_back(run.bench, proposal, resume_words(proposal.plan.id)):
        ledger.prepare()
        if not ledger.has_run(proposal.plan.id):
            ledger.add(entry_of(proposal.plan, provenance, clock))
        outcome = await _screen(proposal, run)
        following = _following(proposal, run, outcome, ledger, clock)
        kept = KeptScreening(proposal.plan, following.plan.id if following else proposal.trial)
        keep_screening(
            ledger, outcome, kept, with_arguments(provenance, run.seen.arguments, None), clock
        )
    if following is None:
        restored = await put_back(run.bench, proposal.formers, proposal.left_over)
        return replace(outcome, restored=restored)
    run.announce(following)
    trial = await carry_out(
        connection, following, secrets=secrets, store=store, clock=clock, ledger=ledger,
        budget_s=run.rest_s,
    )  # fmt: skip
    return replace(outcome, trial=trial, restored=trial.restored)


async def _screen(proposal: ScreeningProposal, run: ScreeningRun) -> ScreeningOutcome:
    """The rounds alone; what ran before stays stopped, unless nothing can go on."""
    ended, is_interrupted = "", False
    try:
        ended = "" if proposal.trial else await run.run()
    except asyncio.CancelledError:
        take_back_cancelling()
        is_interrupted = True
    return ScreeningOutcome(
        plan=run.plan,
        blocks=tuple(run.blocks),
        standing=stand_screening(run.plan, run.blocks),
        differences=run.seen.differences,
        is_interrupted=is_interrupted,
        ended=ended,
    )


def _following(
    proposal: ScreeningProposal,
    run: ScreeningRun,
    outcome: ScreeningOutcome,
    ledger: Ledger,
    clock: Clock,
) -> Proposal | None:
    """The trial, where there is somebody to try and time for it."""
    if proposal.trial and ledger.has_run(proposal.trial):
        return confirming_again(proposal, read_trial(ledger, proposal.trial)[0])
    survivor = outcome.standing.survivor
    if outcome.is_interrupted or outcome.ended or survivor is None:
        return None
    if not run.has_time_for_trial():
        return None
    return confirming(proposal, survivor, clock=clock, ledger=ledger)
