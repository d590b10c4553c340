"""Forecasts of the ledger: kept with what they were made from, read back, worked out again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from specctl import __version__
from specctl.adapters.git import workspace_commit
from specctl.domain.errors import SpecctlError, UsageError
from specctl.domain.forecast.kept import (
    find_changes,
    outcome_words,
    report_of,
    work_out_again,
)
from specctl.domain.runs import Provenance, RunKind
from specctl.services.launch import recipe_hash
from specctl.services.locks import operator
from specctl.services.provenance import read_provenance, recipe_toml

if TYPE_CHECKING:
    from specctl.domain.forecast.report import ForecastReport
    from specctl.domain.profile import Profile
    from specctl.domain.runs import Run
    from specctl.services.connection import Connection


async def conditions_of_forecast(connection: Connection | None, profile: Profile) -> Provenance:
    """What is known of the host, where one was asked, and of the profile."""
    host = None if connection is None else connection.host
    if connection is not None:
        with suppress(SpecctlError):  # what else the host has is not what the forecast is of
            return await read_provenance(connection, (profile,))
    return Provenance(
        specctl=__version__,
        operator=operator(),
        host=None if host is None else host.name,
        is_simulated=host is not None and host.is_simulated,
        profiles={profile.name: recipe_toml(profile)},
        recipes={profile.name: recipe_hash(profile)},
        workspace_commit=await workspace_commit(profile.file),
    )


def forecast_of(run: Run) -> ForecastReport:
    """The forecast of a kept run; raises UsageError for what is none."""
    if run.kind is not RunKind.FORECAST:
        raise UsageError(f"run {run.id} is a {run.kind.value}, no forecast")
    try:
        return replace(report_of(run.document), run=run.id)
    except ValueError as error:
        raise UsageError(f"run {run.id} does not hold a forecast: {error}") from error


@dataclass(frozen=True, slots=True)
class ForecastAgain:
    """A forecast worked out again from its histograms and costs; its transcripts are not kept."""

    run: Run
    report: ForecastReport
    changes: tuple[str, ...]
    """Figures that come out otherwise than they were recorded."""

    @property
    def words(self) -> str:
        """What it comes to."""
        return outcome_words(self.report.forecast)

    @property
    def is_same(self) -> bool:
        """The histograms still say what was said."""
        return not self.changes and self.words == self.run.outcome


def forecast_again(run: Run) -> ForecastAgain:
    """Raises UsageError for what holds no forecast."""
    recorded = forecast_of(run)
    again = work_out_again(recorded.forecast)
    changes = find_changes(recorded.forecast, again)
    return ForecastAgain(run, replace(recorded, forecast=again), changes)
