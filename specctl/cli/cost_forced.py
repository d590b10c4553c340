"""`specctl cost … --simulate-accept-length`: which accept length would pay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from specctl.cli.agreeing import is_agreed
from specctl.cli.diagnostics import INTERRUPTED, warn
from specctl.cli.output import style, write, write_json
from specctl.cli.probe import Announcer
from specctl.cli.running import finder, fleet_of, keeper_of, run, say_kept
from specctl.cli.table import table
from specctl.domain.costing import ONE_LAUNCH
from specctl.domain.errors import UsageError
from specctl.domain.figures import fixed, scaled
from specctl.domain.plain import plain
from specctl.domain.simulated_acceptance import report_forced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.comparison import Comparison
    from specctl.domain.profile import Profile
    from specctl.domain.simulated_acceptance import ForcedReport, ForcedRow
    from specctl.services.fleet import Fleet
    from specctl.services.probing import Settings
    from specctl.services.simulated_acceptance import ForcedPlan

HEADERS = ("forced-to", "accept-length", "step-ms", "needs", "times-faster", "what-else")
RIGHT = "forced-to accept-length step-ms needs times-faster"
MILLI = 0.001
LENGTHS_MOST = 12


class AcceptLengths(click.ParamType[tuple[float, ...]]):
    """`1.5,2,3`: at least 1 each, for a step brings one token of itself."""

    name = "TOKENS[,…]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        """Each once."""
        if isinstance(value, tuple):
            return value
        try:
            found = tuple(float(part) for part in str(value).split(","))
        except ValueError:
            self.fail(f"{value!r} is no list of numbers such as 1.5,2,3", param, ctx)
        if any(not 1 <= number <= 64 for number in found):  # noqa: PLR2004 - beyond any draft
            self.fail(f"{value!r}: an accept length lies between 1 and 64", param, ctx)
        if len(set(found)) != len(found) or len(found) > LENGTHS_MOST:
            self.fail(f"{value!r}: each once, {LENGTHS_MOST} at most", param, ctx)
        return found


def sweep(
    invocation: Invocation, host: str, names: tuple[str, str], asked: Mapping[str, Any]
) -> int:
    """Launch the baseline and the profile at each accept length; the exit status."""
    for name in ("measured", "earlier", "allreduce", "base_ms"):
        if asked[name]:
            raise UsageError(
                "--simulate-accept-length launches anew and predicts nothing",
                hint="Leave --measured, --from, --allreduce and typed times out.",
            )
    if len(asked["concurrency"]) > 1:
        raise UsageError(
            "accept lengths are forced at one concurrency", hint="Name one with --concurrency."
        )
    found = run(_sweep(invocation, host, names, asked))
    if found is None:
        return 0
    if asked["as_json"]:
        write_json("acceptance", plain(found))
    else:
        write_forced(found)
    if found.interrupted:
        warn("interrupted")
        return INTERRUPTED
    return 0 if any(row.speedup is not None for row in found.rows) else 1


async def _sweep(
    invocation: Invocation, host: str, names: tuple[str, str], asked: Mapping[str, Any]
) -> ForcedReport | None:
    from specctl.adapters.secrets import Secrets
    from specctl.services.comparison import compare
    from specctl.services.simulated_acceptance import plan_forced

    async with fleet_of(invocation) as fleet:
        connection = await fleet.connect(host)
        base, profile = (fleet.workspace.profile(name, on=host) for name in names)
        settings, secrets = _settings(invocation, asked), Secrets.load()
        plan = await plan_forced(
            connection, base, profile, asked["simulate_accept_length"], settings,
            find=finder(fleet, host), secrets=secrets, clock=fleet.clock,
        )  # fmt: skip
        refusals = plan.comparison.refusals
        if not is_agreed(host, plan.steps, refusals, is_dry=asked["dry_run"], yes=asked["yes"]):
            return None
        fleet.store.subscribe(Announcer().take)
        began_s = fleet.clock.now()
        found = await compare(
            connection, plan.comparison, secrets=secrets, store=fleet.store, clock=fleet.clock
        )
        return await _kept(fleet, host, profile, plan, found, began_s=began_s)


def _settings(invocation: Invocation, asked: Mapping[str, Any]) -> Settings:
    from specctl.adapters.workloads import read_workload
    from specctl.services.probing import Settings

    workload = read_workload(asked["workload"], root=invocation.workspace().root)
    (concurrency,) = asked["concurrency"]
    return Settings(workload=workload, concurrency=concurrency, most_prompts=asked["prompts"])


async def _kept(
    fleet: Fleet,
    host: str,
    profile: Profile,
    plan: ForcedPlan,
    found: Comparison,
    *,
    began_s: float,
) -> ForcedReport:
    report = report_forced(found, profile.name, plan.lengths, variable=plan.variable)
    keeper = keeper_of(fleet)
    kept = await keeper.keep_forced(
        await fleet.connect(host),
        plan.comparison.profiles,
        workload=plan.comparison.settings.workload,
        comparison=found,
        report=report,
        began_s=began_s,
    )
    say_kept(keeper, kept)
    return replace(report, run=kept)


def write_forced(found: ForcedReport) -> None:
    """A row for each accept length, then where it pays."""
    at = f"{found.workload} at concurrency {found.concurrency}"
    write(style(f"{found.host}  {found.profile} against {found.baseline}, {at}", "bold"))
    write(f"accept lengths forced through {found.variable}")
    for line in table(HEADERS, map(_row, found.rows), right=RIGHT):
        write(line)
    write()
    if found.base_s is not None:
        write(f"a plain step of {found.baseline} takes {found.base_s * 1000:.2f} ms")
    for words in _break_even_words(found):
        write(words)
    for words in (*found.notes, ONE_LAUNCH):
        write(f"- {words}")
    for words in found.restored:
        write(words)


def _row(row: ForcedRow) -> Sequence[str]:
    return (
        f"{row.asked:g}",
        fixed(row.accept_length, 2),
        fixed(scaled(row.step_s, MILLI), 2),
        fixed(row.break_even, 2),
        fixed(row.speedup, 2, "x"),
        row.unknown,
    )


def _break_even_words(found: ForcedReport) -> list[str]:
    if found.break_even is None:
        return []
    star = f"by step times it pays above {found.break_even:.2f} tokens a step (AL*)"
    if found.crossing is None:
        return [star]
    return [f"as measured, first tokens and all, it pays above {found.crossing:.2f}; {star}"]
