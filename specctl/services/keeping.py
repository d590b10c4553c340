"""Keeps what was done in the ledger, with the conditions it was done under."""

from __future__ import annotations

import secrets as random
from contextlib import closing
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from specctl.adapters.ledger import Ledger
from specctl.domain.errors import SpecctlError
from specctl.domain.forecast.kept import outcome_words, report_json
from specctl.domain.plain import plain
from specctl.domain.probe_json import comparison_json, kept_comparison_json, probe_json
from specctl.domain.runs import Run, RunKind
from specctl.domain.text import clean
from specctl.services.measured_server import NO_KEYS, Keys, MeasuredServer
from specctl.services.provenance import read_provenance, with_arguments

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.domain.comparison import Comparison
    from specctl.domain.forecast.report import ForecastReport
    from specctl.domain.plan import Plan
    from specctl.domain.probe import ProbeResult
    from specctl.domain.profile import Profile
    from specctl.domain.runs import Provenance
    from specctl.domain.server import Server
    from specctl.domain.simulated_acceptance import ForcedReport
    from specctl.domain.workload import Workload
    from specctl.services.connection import Connection
    from specctl.services.outcome import Outcome


class Keeper:
    """Writes runs that ended; what cannot be kept costs nobody the run itself."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self.path, self._clock = path, clock
        self.failures: list[str] = []
        """Why something was not kept, in words."""

    @property
    def now_s(self) -> float:
        """By its clock, Unix seconds."""
        return self._clock.now()

    async def keep_probe(
        self,
        connection: Connection,
        server: Server,
        profile: Profile | None,
        *,
        workload: Workload,
        result: ProbeResult,
        keys: Keys = NO_KEYS,
    ) -> str | None:
        """The id under which it is kept; None when it could not be."""
        return await self._keep(
            RunKind.PROBE,
            _described(
                read_provenance(
                    connection,
                    () if profile is None else (profile,),
                    workload,
                    result.trained_on,
                ),
                connection,
                server,
                keys,
                rendering=result.rendering or None,
            ),
            (server.profile or server.name,),
            began_s=result.started_at_s or self._clock.now(),
            outcome=f"void: {result.void[0]}" if result.void else "measured",
            document=probe_json(result),
        )

    async def keep_launch(
        self, connection: Connection, plan: Plan, profile: Profile, outcome: Outcome
    ) -> str | None:
        """The id under which it is kept; None when it could not be, or nothing was launched."""
        if not plan.steps:
            return None
        return await self._keep(
            RunKind.LAUNCH,
            read_provenance(connection, (profile,)),
            (profile.name,),
            run_id=plan.id,
            began_s=self._clock.now() - (outcome.elapsed_s or 0.0),
            outcome=outcome.words,
            document=plain(outcome),
        )

    async def keep_comparison(
        self,
        connection: Connection,
        profiles: Sequence[Profile],
        *,
        workload: Workload,
        comparison: Comparison,
        began_s: float,
    ) -> str | None:
        """The id under which it is kept; None when it could not be."""
        return await self._keep(
            RunKind.COMPARISON,
            _of_comparison(connection, profiles, workload, comparison),
            tuple(profile.name for profile in profiles),
            began_s=began_s,
            outcome="interrupted" if comparison.interrupted else "one launch each: no verdict",
            document=kept_comparison_json(comparison),
        )

    async def keep_forced(
        self,
        connection: Connection,
        profiles: Sequence[Profile],
        *,
        workload: Workload,
        comparison: Comparison,
        report: ForcedReport,
        began_s: float,
    ) -> str | None:
        """The id under which a sweep of accept lengths is kept; None when it could not be."""
        is_whole = not comparison.interrupted
        return await self._keep(
            RunKind.ACCEPTANCE,
            _of_comparison(connection, profiles, workload, comparison),
            tuple(profile.name for profile in profiles),
            began_s=began_s,
            outcome="accept lengths forced: no verdict" if is_whole else "interrupted",
            document={"report": plain(report), "comparison": comparison_json(comparison)},
        )

    async def keep_forecast(
        self, profile: Profile, report: ForecastReport, conditions: Provenance, began_s: float
    ) -> str | None:
        """The id under which it is kept; None when it could not be.

        Of its files the hashes and names are kept, and no text.
        """
        found = report.forecast
        build = None if found.is_version_assumed else found.version
        kept = replace(report, transcripts=clean(PurePath(report.transcripts).name))
        return await self._keep(
            RunKind.FORECAST,
            _known(replace(conditions, build=build)),
            (profile.name,),
            began_s=began_s,
            outcome=outcome_words(found),
            document=report_json(kept),
        )

    async def _keep(
        self,
        kind: RunKind,
        conditions: Awaitable[Provenance],
        profiles: tuple[str, ...],
        *,
        began_s: float,
        outcome: str,
        document: Mapping[str, Any],
        run_id: str = "",
    ) -> str | None:
        """The one place where a failure to keep becomes words."""
        try:
            provenance = await conditions
            run = Run(
                id=run_id or random.token_hex(4),
                kind=kind,
                host=provenance.host,
                profiles=profiles,
                began_s=began_s,
                ended_s=self._clock.now(),
                outcome=outcome,
                provenance=provenance,
                document=document,
            )
            with closing(Ledger(self.path)) as ledger:
                ledger.add(run)
        except SpecctlError as error:
            self.failures.append(error.message)
            return None
        return run.id


async def _known(conditions: Provenance) -> Provenance:
    return conditions


async def _of_comparison(
    connection: Connection, profiles: Sequence[Profile], workload: Workload, found: Comparison
) -> Provenance:
    provenance = await read_provenance(connection, profiles, workload, found.trained_on)
    arguments = {arm.profile: arm.arguments for arm in found.arms}
    return with_arguments(provenance, plain(arguments), None)


async def _described(
    conditions: Awaitable[Provenance],
    connection: Connection,
    server: Server,
    keys: Keys,
    *,
    rendering: str | None,
) -> Provenance:
    """With what the server resolved, when it still says."""
    provenance = replace(await conditions, rendering=rendering)
    try:
        async with MeasuredServer(connection, server, keys) as measured:
            info = (await measured.read()).info
    except SpecctlError:  # the probe itself says that the server is gone
        return provenance
    name = server.profile or server.name
    return with_arguments(provenance, {name: plain(info.arguments)}, info.version)
