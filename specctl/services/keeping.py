"""Keeps what was done in the ledger, with the conditions it was done under."""

from __future__ import annotations

import secrets as random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specctl.adapters.ledger import Ledger
from specctl.domain.errors import SpecctlError
from specctl.domain.plain import plain
from specctl.domain.probe_json import comparison_json, probe_json
from specctl.domain.runs import Run, RunKind
from specctl.services.measured_server import NO_KEYS, Keys, MeasuredServer
from specctl.services.provenance import read_provenance, with_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.domain.comparison import Comparison
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
        try:
            profiles = () if profile is None else (profile,)
            provenance = await read_provenance(connection, profiles, workload)
            provenance = await _described(provenance, connection, server, keys)
        except SpecctlError as error:
            self.failures.append(error.message)
            return None
        provenance = replace(provenance, rendering=result.rendering or None)
        outcome = f"void: {result.void[0]}" if result.void else "measured"
        return self._add(
            RunKind.PROBE,
            provenance,
            (server.profile or server.name,),
            began_s=result.started_at_s or self._clock.now(),
            outcome=outcome,
            document=probe_json(result),
        )

    async def keep_launch(
        self, connection: Connection, plan: Plan, profile: Profile, outcome: Outcome
    ) -> str | None:
        """The id under which it is kept; None when it could not be, or nothing was launched."""
        if not plan.steps:
            return None
        try:
            provenance = await read_provenance(connection, (profile,))
        except SpecctlError as error:
            self.failures.append(error.message)
            return None
        now_s = self._clock.now()
        return self._add(
            RunKind.LAUNCH,
            provenance,
            (profile.name,),
            run_id=plan.id,
            began_s=now_s - (outcome.elapsed_s or 0.0),
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
        try:
            provenance = await read_provenance(connection, profiles, workload)
        except SpecctlError as error:
            self.failures.append(error.message)
            return None
        arguments = {arm.profile: arm.arguments for arm in comparison.arms}
        return self._add(
            RunKind.COMPARISON,
            with_arguments(provenance, plain(arguments), None),
            tuple(profile.name for profile in profiles),
            began_s=began_s,
            outcome="interrupted" if comparison.interrupted else "one launch each: no verdict",
            document=comparison_json(comparison),
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
        try:
            provenance = await read_provenance(connection, profiles, workload)
        except SpecctlError as error:
            self.failures.append(error.message)
            return None
        arguments = {arm.profile: arm.arguments for arm in comparison.arms}
        document = {"report": plain(report), "comparison": comparison_json(comparison)}
        return self._add(
            RunKind.ACCEPTANCE,
            with_arguments(provenance, plain(arguments), None),
            tuple(profile.name for profile in profiles),
            began_s=began_s,
            outcome="interrupted"
            if comparison.interrupted
            else "accept lengths forced: no verdict",
            document=document,
        )

    def _add(
        self,
        kind: RunKind,
        provenance: Provenance,
        profiles: tuple[str, ...],
        *,
        began_s: float,
        outcome: str,
        document: Mapping[str, Any],
        run_id: str = "",
    ) -> str | None:
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
        try:
            ledger = Ledger(self.path)
            try:
                ledger.add(run)
            finally:
                ledger.close()
        except SpecctlError as error:
            self.failures.append(error.message)
            return None
        return run.id


async def _described(
    provenance: Provenance, connection: Connection, server: Server, keys: Keys
) -> Provenance:
    """With what the server resolved, when it still says."""
    try:
        async with MeasuredServer(connection, server, keys) as measured:
            info = (await measured.read()).info
    except SpecctlError:  # the probe itself says that the server is gone
        return provenance
    name = server.profile or server.name
    return with_arguments(provenance, {name: plain(info.arguments)}, info.version)
