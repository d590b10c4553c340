"""What the screen of a screening shows, worked out from its launches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from specctl.domain.trial.screening_running import stand_screening

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.trial.screening_plan import ScreeningBlock, ScreeningPlan
    from specctl.domain.trial.screening_running import ScreeningStanding
    from specctl.services.screening import ScreeningOutcome
    from specctl.services.screening_plan import ScreeningProposal


@dataclass(frozen=True, slots=True)
class ScreeningSheet:
    """A screening as far as it has come."""

    plan: ScreeningPlan
    blocks: tuple[ScreeningBlock, ...]
    standing: ScreeningStanding
    trial: str | None = None
    """The trial of the one that is left, once it is planned."""


def make_screening_sheet(
    plan: ScreeningPlan, blocks: Sequence[ScreeningBlock], trial: str | None = None
) -> ScreeningSheet:
    """Work a screening out."""
    return ScreeningSheet(plan, tuple(blocks), stand_screening(plan, blocks), trial)


class ScreeningServices(Protocol):
    """Screenings run and looked at again; expected failures are `SpecctlError`."""

    async def plan_screening_on(self, screening: str) -> ScreeningProposal:
        """How a screening of the ledger would go on."""

    async def run_screening(
        self, proposal: ScreeningProposal, *, budget_s: float | None = None
    ) -> ScreeningOutcome:
        """Carry a screening and its trial out, or on; cancelled, it restores what ran."""

    async def read_screening(self, screening: str) -> ScreeningSheet:
        """A screening of the ledger, as far as it has come."""
