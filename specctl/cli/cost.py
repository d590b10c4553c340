"""`specctl cost HOST PROFILE`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from specctl.cli.compare_options import CONCURRENCIES
from specctl.cli.compare_trial import open_ledger, run_new
from specctl.cli.cost_forced import AcceptLengths, sweep
from specctl.cli.cost_text import write_report
from specctl.cli.diagnostics import INTERRUPTED, say, warn
from specctl.cli.invocation import json_option, yes_option
from specctl.cli.output import write_json
from specctl.cli.probe import BUNDLED
from specctl.cli.running import confirm, fleet_of, run
from specctl.domain.breakeven import Typed, work_out
from specctl.domain.costing import (
    ONE_LAUNCH,
    CostReport,
    CostRow,
    TypedCosts,
    cost_rows,
    find_unpredicted,
)
from specctl.domain.errors import RefusedError, RemoteFailedError, UsageError
from specctl.domain.plain import plain
from specctl.domain.topology import topology_words
from specctl.domain.trial.asking import design_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.cli.invocation import Invocation
    from specctl.domain.interconnect import AllReduce, Link
    from specctl.domain.profile import Profile
    from specctl.domain.run_figures import RunFigures
    from specctl.services.connection import Connection
    from specctl.services.trial import TrialOutcome

ONE_EACH = design_of(1, 0.02, strict=False)


@click.command()
@click.argument("host")
@click.argument("profile")
@click.option("--baseline", metavar="PROFILE", help="Instead of the one that PROFILE names.")
@click.option(
    "--workload", default="mixed", show_default=True, metavar="NAME|FILE",
    help=f"{BUNDLED}, or a JSONL file of prompts.",
)  # fmt: skip
@click.option(
    "--concurrency", type=CONCURRENCIES, default="1", show_default=True,
    help="Requests at the same time, all on the same launch.",
)  # fmt: skip
@click.option("--prompts", type=click.IntRange(1), metavar="N", help="At most so many prompts.")
@click.option("--measured", metavar="RUN", help="Of a run of the ledger; nothing is launched.")
@click.option(
    "--from", "earlier", multiple=True, metavar="RUN", help="Predict from the step times of a run."
)
@click.option("--base-ms", type=float, metavar="MS", help="Predict from a plain step typed in,")
@click.option("--step-ms", type=float, metavar="MS", help="with a whole speculative step,")
@click.option("--draft-ms", type=float, metavar="MS", help="or its parts: drafting,")
@click.option("--verify-ms", type=float, metavar="MS", help="verifying,")
@click.option("--overhead-ms", type=float, metavar="MS", help="and everything between.")
@click.option("--accept-length", type=float, metavar="TOKENS", help="Else the measured one.")
@click.option(
    "--allreduce", is_flag=True,
    help="Measure all-reduces of the model's message sizes instead; nothing is launched.",
)  # fmt: skip
@click.option(
    "--simulate-accept-length",
    type=AcceptLengths(),
    metavar="TOKENS[,…]",
    help="Launch PROFILE with these accept lengths forced on it, to see from which on it pays.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done and do nothing.")
@yes_option
@json_option
@click.pass_obj
def command(
    invocation: Invocation, /, host: str, profile: str, *, as_json: bool, **asked: Any
) -> int:
    """Say what speculative steps cost, what they have to bring for that, and what they bring.

    The profile and its baseline are launched once each, as by compare, and measured at every
    concurrency. A prediction from the same windows agrees by construction: give another run
    (--from) or typed times, or start both with SGLANG_RECORD_STEP_TIME=1 in their environment, to
    see how good predictions are here. With --simulate-accept-length the build itself is told what
    to accept: outputs are not the model's then.

    \b
    specctl cost gpu8 llama-8b-eagle3 --concurrency 1,8
    specctl cost gpu8 llama-8b-eagle3 --measured 5c0f --from 91aa
    specctl cost gpu8 llama-8b-eagle3 --allreduce --measured 5c0f
    specctl cost gpu8 llama-8b-eagle3 --simulate-accept-length 1.5,2,3
    """  # noqa: D301  click reads \b
    typed = _typed(asked)
    base = _baseline(invocation, host, profile, asked["baseline"])
    if asked["simulate_accept_length"]:
        return sweep(invocation, host, (base, profile), {**asked, "as_json": as_json})
    links, reduced, earlier = _prepare(invocation, host, profile, asked)
    figures, status = _figures(invocation, host, (base, profile), asked)
    if asked["dry_run"]:
        return 0
    if figures is None or (status and not figures.pairs):
        rows: tuple[CostRow, ...] = ()
    else:
        rows = cost_rows(figures, profile, earlier=earlier, typed=typed)
    notes = find_unpredicted(rows, earlier, figures.trained_on if figures else None)
    is_single = any(pair.low is None for pair in figures.pairs) if figures else False
    found = CostReport(
        host=host,
        profile=profile,
        baseline=base,
        run=figures.run if figures else None,
        rows=rows,
        links=links,
        allreduce=reduced,
        notes=(*notes, *((ONE_LAUNCH,) if is_single else ())),
    )
    if as_json:
        write_json("cost", plain(found))
    else:
        write_report(found)
    return status


def _typed(asked: Mapping[str, Any]) -> TypedCosts | None:
    names = ("base_ms", "step_ms", "draft_ms", "verify_ms", "overhead_ms", "accept_length")
    given = {name: asked[name] for name in names if asked[name] is not None}
    if not given:
        return None
    if "base_ms" not in given:
        raise UsageError("typed step costs need --base-ms, the time of a plain step")
    found = work_out(Typed(**given))
    return TypedCosts(given["base_ms"] / 1000, found.step_ms / 1000, found.accept_length)


def _baseline(invocation: Invocation, host: str, name: str, given: str | None) -> str:
    workspace = invocation.workspace()
    profile = workspace.profile(name, on=host)
    base = given or profile.baseline
    if base is None:
        raise UsageError(
            f"{name} names no baseline", hint="Add --baseline PROFILE, or baseline = to its file."
        )
    return workspace.profile(base, on=host).name


def _prepare(
    invocation: Invocation, host: str, name: str, asked: Mapping[str, Any]
) -> tuple[tuple[Link, ...], AllReduce | None, tuple[RunFigures, ...]]:
    """The interconnect, and the runs to predict from; nothing is asked of a host for old runs."""
    from specctl.services.run_figures import find_figures

    with open_ledger() as ledger:
        earlier = find_figures(ledger, asked["earlier"])
    if asked["measured"] and not asked["allreduce"]:
        return (), None, earlier
    links, reduced = run(_interconnect(invocation, host, name, asked))
    return links, reduced, earlier


async def _interconnect(
    invocation: Invocation, host: str, name: str, asked: Mapping[str, Any]
) -> tuple[tuple[Link, ...], AllReduce | None]:
    from specctl.services.interconnect import read_links

    async with fleet_of(invocation) as fleet:
        profile = fleet.workspace.profile(name, on=host)
        connection = await fleet.connect(host)
        links = await read_links(connection, profile)
        if len(links) > 1:
            await _say_ways(connection, [link.gpu for link in links])
        if not asked["allreduce"]:
            return links, None
        return links, await _allreduce(connection, profile, asked)


async def _say_ways(connection: Connection, gpus: Sequence[int]) -> None:
    """What lies between these GPUs; why it is not known where the host does not say."""
    from specctl.services.topology import read_ways

    try:
        words = topology_words(await read_ways(connection), gpus)
    except RemoteFailedError as error:
        words = f"not known: {error.message}"
    say(f"between the GPUs: {words}")


async def _allreduce(
    connection: Connection, profile: Profile, asked: Mapping[str, Any]
) -> AllReduce | None:
    from specctl.services.interconnect import measure_allreduce, plan_allreduce

    plan = await plan_allreduce(connection, profile, asked["concurrency"])
    say(f"1. {plan.words}")
    for words in plan.refusals:
        warn(words)
    if asked["dry_run"]:
        return None
    if not plan.refusals and not confirm("Go ahead?", yes=asked["yes"]):
        raise RefusedError("nothing was done")
    return await measure_allreduce(connection, plan)


def _figures(
    invocation: Invocation, host: str, names: tuple[str, str], asked: Mapping[str, Any]
) -> tuple[RunFigures | None, int]:
    """What was measured, now or before, and the exit status that goes with it."""
    from specctl.services.run_figures import find_figures

    run_id, status = asked["measured"], 0
    if run_id is None and asked["allreduce"]:
        return None, 0
    if run_id is None:
        outcome = _launch(invocation, host, names, asked)
        if outcome is None:
            return None, 0
        run_id = outcome.plan.id
        for words in outcome.restored:
            say(words)
        if outcome.is_interrupted:
            warn(f"interrupted: specctl runs show {run_id} says what became of each launch")
            status = INTERRUPTED
    with open_ledger() as ledger:
        (figures,) = find_figures(ledger, (run_id,))
    _refuse_another(figures, host, names)
    if not figures.pairs and asked["measured"] is None and not status:
        raise RemoteFailedError(
            f"host {host}: no costs were measured: {figures.void}",
            hint=f"specctl runs show {run_id} says what became of each launch.",
        )
    return figures, status


def _refuse_another(figures: RunFigures, host: str, names: tuple[str, str]) -> None:
    """A run that was named says nothing of another host or against another baseline."""
    if figures.host != host:
        raise UsageError(f"run {figures.run} was made on {figures.host}, not on {host}")
    base, profile = names
    bases = {pair.base.profile for pair in figures.pairs if pair.arm.profile == profile}
    if bases and base not in bases:
        raise UsageError(
            f"run {figures.run} measured {profile} against {', '.join(bases)}, not {base}",
            hint="Leave --baseline out, or name that one.",
        )


def _launch(
    invocation: Invocation, host: str, names: Sequence[str], asked: Mapping[str, Any]
) -> TrialOutcome | None:
    from specctl.adapters.workloads import read_workload
    from specctl.services.probing import Settings

    workload = read_workload(asked["workload"], root=invocation.workspace().root)
    settings = [
        Settings(workload=workload, concurrency=concurrency, most_prompts=asked["prompts"])
        for concurrency in asked["concurrency"]
    ]
    coming = run_new(
        invocation, host, names, settings, ONE_EACH, source=asked["workload"], budget_s=None,
        is_dry=asked["dry_run"], yes=asked["yes"],
    )  # fmt: skip
    return run(coming)
