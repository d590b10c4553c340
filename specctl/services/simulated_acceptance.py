"""Launches a profile with accept lengths forced on it, beside its baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.simulated_acceptance import (
    NOT_THE_MODELS,
    VARIABLES,
    find_variable,
    forced_profiles,
)
from specctl.services.comparison import plan_comparison
from specctl.services.linting import build_on

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specctl.adapters.clock import Clock
    from specctl.adapters.secrets import Secrets
    from specctl.domain.profile import Profile
    from specctl.services.comparison import ComparisonPlan
    from specctl.services.connection import Connection
    from specctl.services.probing import Settings


@dataclass(frozen=True, slots=True)
class ForcedPlan:
    """A sweep to be agreed to; it is carried out by `compare`."""

    comparison: ComparisonPlan
    variable: str
    lengths: tuple[float, ...]

    @property
    def steps(self) -> tuple[str, ...]:
        """What would be done, in order."""
        return (f"{self.variable}: {NOT_THE_MODELS}", *self.comparison.steps)


async def plan_forced(
    connection: Connection,
    baseline: Profile,
    profile: Profile,
    lengths: Sequence[float],
    settings: Settings,
    *,
    find: Callable[[str], Profile | None],
    secrets: Secrets,
    clock: Clock,
) -> ForcedPlan:
    """What the sweep would do; raises UsageError for a build that has no simulated acceptance."""
    build = await build_on(connection)
    variable = find_variable(build.texts)
    if variable is None:
        raise UsageError(
            f"host {connection.host.name}: the source of {build.name} reads neither "
            f"{' nor '.join(VARIABLES)}, so no accept length can be forced on it",
            hint="specctl breakeven works from step times instead.",
        )
    forced = forced_profiles(profile, lengths, variable)
    comparison = await plan_comparison(
        connection,
        (baseline, *forced),
        settings,
        find=find,
        secrets=secrets,
        clock=clock,
        is_acceptance_forced=True,
    )
    return ForcedPlan(comparison, variable, tuple(sorted(lengths)))
