"""`specctl probe HOST[/SERVER]`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from specctl.cli.diagnostics import say, warn
from specctl.cli.invocation import Seconds, json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.plan_text import say_restoring
from specctl.cli.probe_text import write_result
from specctl.cli.running import finder, fleet_of, keeper_of, run, say_kept, split_server
from specctl.domain import figures
from specctl.domain.errors import UsageError
from specctl.domain.events import ProbeProgressed
from specctl.domain.open_loop import MOST_IN_FLIGHT, ArrivalKind, Arrivals
from specctl.domain.probe_json import probe_json

if TYPE_CHECKING:
    from specctl.cli.invocation import Invocation
    from specctl.domain.events import Event
    from specctl.domain.probe import ProbeResult
    from specctl.domain.state import State
    from specctl.domain.workload import Workload
    from specctl.services.probing import Settings

BUNDLED = "chat, code, maths, mixed, novel, quote, repetition, soak, structured, tiny"
"""The workloads that come with specctl, for the help of those who take one."""


MOST_PER_S = 1000
PER_S = {"": 1.0, "s": 1.0, "min": 60.0}
RATE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:/(s|min))?")


def read_rate(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """`2/s`, `90/min` or `0.5` as requests per second."""
    if value is None:
        return None
    found = RATE.fullmatch(value.strip())
    per_s = float(found[1]) / PER_S[found[2] or ""] if found else 0.0
    if not 0 < per_s <= MOST_PER_S:
        words = f"{value!r} is no rate; write 2/s, 90/min or 0.5, at most {MOST_PER_S}/s"
        raise click.BadParameter(words, ctx, param)
    return per_s


@click.command()
@click.argument("target", metavar="HOST[/SERVER]")
@click.option(
    "--workload", default="mixed", show_default=True, metavar="NAME|FILE",
    help=f"{BUNDLED}, or a JSONL file of prompts.",
)  # fmt: skip
@click.option(
    "--concurrency", type=click.IntRange(1, 1024), metavar="N",
    help="Requests at the same time.  [default: 1]",
)  # fmt: skip
@click.option(
    "--rate", "rate_per_s", callback=read_rate, metavar="RATE",
    help="Requests as they arrive, not N at a time: 2/s, 90/min.",
)  # fmt: skip
@click.option(
    "--arrivals", "kind", type=click.Choice([kind.value for kind in ArrivalKind]),
    default=ArrivalKind.POISSON.value, show_default=True, help="Of --rate: the gaps between them.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, show_default=True, help="Of Poisson arrivals.")
@click.option(
    "--in-flight", type=click.IntRange(1, 1024), default=MOST_IN_FLIGHT, show_default=True,
    metavar="N", help="Of --rate: more than so many wait, first come first served.",
)  # fmt: skip
@click.option("--prompts", type=click.IntRange(1), metavar="N", help="At most so many prompts.")
@click.option("--warm", is_flag=True, help="Do not flush; a warm cache is wanted.")
@click.option(
    "--trained-on", metavar="NAME|FILE",
    help="Send these prompts after each flush, unmeasured; none may be in --workload.",
)  # fmt: skip
@click.option(
    "--timeout", "timeout_s", type=Seconds(0.1, 86400), default=600.0, show_default=True,
    metavar="SECONDS",
    help="For one request.",
)  # fmt: skip
@json_option
@click.pass_obj
def command(
    invocation: Invocation,
    target: str,
    *,
    workload: str,
    concurrency: int | None,
    rate_per_s: float | None,
    kind: str,
    seed: int,
    in_flight: int,
    prompts: int | None,
    warm: bool,
    trained_on: str | None,
    timeout_s: float,
    as_json: bool,
) -> int:
    """Measure a running server: tok/s, accept length, first-token and inter-token times.

    Requests are sent from the host itself, once each, greedy unless the workload says otherwise:
    N at a time, or with --rate as they arrive, timed from when each was due. A result that must
    not be used says why, and ends with status 1.

    \b
    specctl probe gpu8
    specctl probe gpu8/7c1e --workload real.jsonl --concurrency 8
    specctl probe gpu8 --workload soak --rate 2/s
    specctl probe gpu8 --workload real.jsonl --trained-on others.jsonl
    """  # noqa: D301  click reads \b
    from specctl.services.probing import Settings

    if warm and trained_on is not None:
        raise UsageError(
            "--warm takes the cache as found, --trained-on flushes it first", hint="Choose one."
        )
    measured, training = read_prompts(invocation, workload, trained_on, prompts)
    settings = Settings(
        workload=measured,
        training=training,
        concurrency=concurrency or 1,
        arrivals=_arrivals(rate_per_s, kind, seed, in_flight, concurrency),
        accepts_warm=warm,
        most_prompts=prompts,
        timeout_s=timeout_s,
    )
    result = run(_probe(invocation, target, settings))
    if as_json:
        write_json("probe", probe_json(result))
    else:
        write(style(f"{target}  {result.profile or 'no profile'}", "bold"))
        write_result(result)
    _say_what_of_it(target, result)
    return 1 if result.void else 0


def read_prompts(
    invocation: Invocation, workload: str, trained_on: str | None, most: int | None
) -> tuple[Workload, Workload | None]:
    """What is measured, and what is sent before; raises UsageError where they share a prompt."""
    from specctl.adapters.workloads import read_training, read_workload

    root = invocation.workspace().root
    measured = read_workload(workload, root=root)
    if trained_on is None:
        return measured, None
    return measured, read_training(trained_on, measured.prompts[:most], root=root, most=most)


def _arrivals(
    rate_per_s: float | None, kind: str, seed: int, in_flight: int, concurrency: int | None
) -> Arrivals | None:
    """Of an open loop; None without a rate."""
    if rate_per_s is None:
        return None
    if concurrency is not None:
        raise UsageError(
            "--rate and --concurrency: requests come as they arrive, or N at a time",
            hint=f"With --rate, --in-flight {concurrency} is the most there may be.",
        )
    return Arrivals(rate_per_s, ArrivalKind(kind), seed, in_flight)


def _say_what_of_it(target: str, result: ProbeResult) -> None:
    """What must not be used and why, and what to ask next of what may."""
    for words in result.void:
        warn(f"void: {words}")
    if result.open_loop is not None:
        if result.open_loop.keeps_up is False:
            warn(f"{target} cannot keep up with {arrivals_words(result)}: {result.open_loop.pace}")
    elif result.accept_length is not None and result.profile and not result.void:
        say(f"whether that pays: specctl cost {target.partition('/')[0]} {result.profile}")


def arrivals_words(result: ProbeResult) -> str:
    """`2/s`, as it was asked for."""
    return "" if result.open_loop is None else f"{result.open_loop.asked_per_s:g}/s"


async def _probe(invocation: Invocation, target: str, settings: Settings) -> ProbeResult:
    from specctl.services.choosing import the_server
    from specctl.services.host_reading import read_host
    from specctl.services.probing import probe_server
    from specctl.services.server_keys import keys_for

    host, name = split_server(target)
    async with fleet_of(invocation) as fleet:
        fleet.store.subscribe(Announcer().take)
        connection = await fleet.connect(host)
        server = the_server(await read_host(connection), host, name)
        keys = keys_for(fleet.workspace)(connection.host, server)
        _announce(host, server.profile, settings, fleet.clock.now())
        result = await probe_server(
            connection, server, settings, store=fleet.store, clock=fleet.clock, keys=keys
        )
        keeper, profile = keeper_of(fleet), finder(fleet, host)(server.profile or "")
        kept = await keeper.keep_probe(
            connection,
            server,
            profile,
            workload=settings.workload,
            result=result,
            keys=keys,
        )
        say_kept(keeper, kept)
        return result


def _announce(host: str, profile: str | None, settings: Settings, now_s: float) -> None:
    """Say what is going to be sent and how long that takes."""
    from specctl.adapters.paths import ledger_file
    from specctl.services.estimating import estimate_probe

    requests = len(settings.workload.prompts[: settings.most_prompts])
    how = f"{settings.concurrency} at a time"
    if settings.arrivals is not None:
        how = settings.arrivals.words
    takes = estimate_probe(ledger_file(), host, profile, settings, now_s=now_s)
    trained = f"; {settings.trained_on.words}" if settings.trained_on else ""
    say(f"{requests} prompts of {settings.workload.name}, {how}{trained}; {takes.said('it')}")


QUARTERS = 4


class Announcer:
    """Says what is going on: each part of the probe, and the time left at every quarter of it."""

    def __init__(self) -> None:
        self._said = ""
        self._quarter = -1

    def take(self, event: Event, _state: State) -> None:
        """Say what a new part of a probe is, and how long is left once that is known."""
        say_restoring(event)
        if not isinstance(event, ProbeProgressed):
            return
        if event.words != self._said:
            self._said, self._quarter = event.words, -1
            say(f"{event.words} ({event.total} requests)")
        if not event.remaining_s or not event.done or event.done == event.total:
            return
        quarter = event.done * QUARTERS // event.total
        if quarter > self._quarter:
            self._quarter = quarter
            left = figures.about(event.remaining_s)
            say(f"{event.words}: {event.done} of {event.total}, about {left} left")
