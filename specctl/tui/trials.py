"""What the trial screens ask for: values and the protocol that fetches them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from specctl.domain.trial.narrowing import Narrowed, Pace, find_looks, find_pace
from specctl.domain.trial.running import stand
from specctl.domain.trial.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from specctl.domain.comparison import Unasked
    from specctl.domain.report.references import Published
    from specctl.domain.run_sheet import RunSheet
    from specctl.domain.runs import RunBrief
    from specctl.domain.trial.parting import Parting
    from specctl.domain.trial.running import Next, TrialBlock, TrialPlan
    from specctl.domain.trial.summary import ConcurrencySummary, TrialSummary
    from specctl.services.screening_plan import ScreeningProposal
    from specctl.services.trial import TrialOutcome
    from specctl.services.trial_plan import Proposal
    from specctl.tui.asked import TrialAsk


@dataclass(frozen=True, slots=True)
class TrialSheet:
    """Everything one trial is, worked out from its plan and its launches."""

    plan: TrialPlan
    blocks: tuple[TrialBlock, ...]
    summary: TrialSummary
    looks: tuple[Narrowed, ...]
    pace: Pace
    next: Next | None
    sentence: str
    """The verdict, or how it stands."""

    outcome: str = ""
    """As the ledger has it."""

    ended_s: float | None = None
    conditions: tuple[tuple[str, str], ...] = ()
    published: tuple[Published, ...] = ()
    differences: tuple[Unasked, ...] | None = None
    """Resolved arguments that differ unasked; None until the ledger holds them."""

    parting: Parting | None = None
    """Where the arms' answers differ first."""

    @property
    def primary(self) -> ConcurrencySummary:
        """The concurrency that the verdict is about."""
        return self.summary.concurrencies[0]

    @property
    def word(self) -> str | None:
        """The verdict; None while there is none."""
        return self.primary.word or ("not enough evidence" if self.summary.ended else None)


def make_sheet(
    plan: TrialPlan,
    blocks: Sequence[TrialBlock],
    *,
    outcome: str = "",
    ended_s: float | None = None,
    conditions: tuple[tuple[str, str], ...] = (),
    published: tuple[Published, ...] = (),
    differences: tuple[Unasked, ...] | None = None,
) -> TrialSheet:
    """Work a trial out."""
    standing, summary = stand(plan, blocks), summarise(plan, blocks)
    return TrialSheet(
        plan=plan,
        blocks=tuple(blocks),
        summary=summary,
        looks=find_looks(plan, blocks),
        pace=find_pace(plan, blocks, standing.next),
        next=standing.next,
        sentence=summary.concurrencies[0].sentence,
        outcome=outcome,
        ended_s=ended_s,
        conditions=conditions,
        published=published,
        differences=differences,
        parting=summary.concurrencies[0].parting,
    )


class TrialServices(Protocol):
    """Trials planned, run and looked at again; expected failures are `SpecctlError`."""

    def ask_trial(self, host: str, profile: str) -> TrialAsk:
        """What a trial of `profile` would be asked for as; its own baseline first."""

    async def plan_trial(self, ask: TrialAsk) -> Proposal | ScreeningProposal:
        """What the trial would do; with several profiles to choose from, the screening first."""

    async def plan_resumption(self, trial: str) -> Proposal:
        """How a trial of the ledger would go on."""

    async def run_trial(self, proposal: Proposal, *, budget_s: float | None = None) -> TrialOutcome:
        """Carry it out, or on; cancelled, it restores what ran and keeps what is measured."""

    async def list_trials(self) -> tuple[RunBrief, ...]:
        """Trials and other runs of the ledger, the newest first."""

    async def learn_trials(self) -> None:
        """Work out what the newest trials say of the profiles of each host."""

    async def read_trial(self, trial: str) -> TrialSheet:
        """One trial of the ledger."""

    async def read_run(self, run: str) -> RunSheet:
        """Everything that was kept of a run, of any kind."""

    async def save_report(self, trial: str) -> Path:
        """Write a trial's page where the operator is; where that is."""

    async def show_report(self, path: Path) -> None:
        """Show a written page in the operator's browser."""


class TrialRun:
    """A trial that was begun in this session."""

    def __init__(
        self, proposal: Proposal | ScreeningProposal, began_s: float, budget_s: float | None = None
    ) -> None:
        self.proposal, self.began_s, self.budget_s = proposal, began_s, budget_s
        self.outcome: TrialOutcome | None = None
        self.failure = ""
        self.is_over = False
        self.is_stopping = False
        """It was asked to end; what ran before is started again first."""

        self.cancel: Callable[[], None] = lambda: None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the ledger does not keep: why it failed, what became of what ran before."""
        if self.outcome is None:
            return (self.failure,) if self.failure else ()
        return self.outcome.restored

    def known(self, sheet: TrialSheet) -> TrialSheet:
        """With the unasked differences that this session saw, before the ledger has them."""
        if self.outcome is None or sheet.differences is not None:
            return sheet
        return replace(sheet, differences=self.outcome.differences)
