"""`specctl advise RUN…`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from specctl.cli.compare_trial import open_ledger
from specctl.cli.diagnostics import say, warn
from specctl.cli.invocation import json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.simulated import SHOWN
from specctl.cli.table import table
from specctl.domain.advising import advise_on
from specctl.domain.errors import UsageError
from specctl.domain.figures import fixed, percent, scaled
from specctl.domain.host import Host
from specctl.domain.plain import plain

if TYPE_CHECKING:
    from specctl.domain.advising import AdviceReport, AdviceRow, DraftAdvice, PositionRow

POSITION_HEADERS = ("position", "accepted", "brings-ms", "costs-ms", "")
CANDIDATE_HEADERS = ("steps", "draft-tokens", "accept-length", "step-ms", "times-faster", "")
MILLI = 0.001


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN|FILE...")
@click.option(
    "--adaptive-config", "config", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
    help="Write what --speculative-adaptive-config takes, from what was measured.",
)  # fmt: skip
@json_option
def command(names: tuple[str, ...], *, config: Path | None, as_json: bool) -> None:
    """Say which draft length to try next, from trials of the ledger; off is always a candidate.

    One trial tells what each position brings, and between which ends its cost lies; a second one
    at another number of steps tells the cost. Trials at several concurrencies tell where
    speculation stops paying.

    \b
    specctl advise 5c0f
    specctl advise 5c0f 91aa --adaptive-config adaptive.json
    """  # noqa: D301  click reads \b
    from specctl.services.run_figures import find_figures

    with open_ledger() as ledger:
        runs = find_figures(ledger, names)
    for run in runs:
        SHOWN.notice(Host(run.host, is_simulated=run.is_simulated))
    found = advise_on(runs)
    if as_json:
        write_json("advise", plain(found))
    else:
        _write(found)
    if config is not None:
        _write_config(found, config)


def _write(found: AdviceReport) -> None:
    write(style(f"{found.host}  against {found.baseline}", "bold"))
    for draft in found.drafts:
        _write_draft(draft)
    for tree in found.trees:
        write()
        write(
            f"{tree.profile} ({tree.algorithm}) at concurrency {tree.concurrency}: accept length "
            f"{fixed(tree.accept_length, 2)}, needs {fixed(tree.break_even, 2)}, "
            f"{fixed(tree.speedup, 2, 'x')}"
        )
        write(f"  {tree.words}")
    for words in found.notes:
        write(f"- {words}")


def _write_draft(draft: DraftAdvice) -> None:
    for row in draft.concurrencies:
        write()
        names = ", ".join(draft.profiles)
        write(style(f"concurrency {row.concurrency}  {draft.algorithm} ({names})", "bold"))
        _write_row(row)
    if draft.stops_paying_at is not None and len(draft.concurrencies) > 1:
        write()
        write(f"from concurrency {draft.stops_paying_at} on nothing is faster than off")


def _write_row(row: AdviceRow) -> None:
    for line in table(
        POSITION_HEADERS, map(_position, row.positions), right="position accepted brings-ms"
    ):
        write(f"  {line}")
    write()
    right = "steps draft-tokens accept-length"
    for line in table(CANDIDATE_HEADERS, _candidates(row), right=right):
        write(f"  {line}")
    write()
    write(f"  {style(row.words, 'bold')}")


def _position(one: PositionRow) -> tuple[str, ...]:
    return (
        str(one.place),
        percent(one.marginal),
        fixed(scaled(one.value_s, MILLI), 2),
        _range(scaled(one.cost_s_low, MILLI), scaled(one.cost_s_high, MILLI)),
        "" if one.is_measured else "extrapolated",
    )


def _candidates(row: AdviceRow) -> list[tuple[str, ...]]:
    return [
        (
            str(one.steps) if one.steps else "off",
            str(one.draft_tokens) if one.steps else "",
            fixed(one.accept_length, 2),
            _range(scaled(one.step_s_low, MILLI), scaled(one.step_s_high, MILLI)),
            _range(one.speedup_low, one.speedup_high, "x"),
            f"{'<- ' if one == row.best else ''}{one.source}",
        )
        for one in row.candidates
    ]


def _range(low: float | None, high: float | None, unit: str = "") -> str:
    least, most = fixed(low, 2), fixed(high, 2)
    return f"{least}{unit}" if least == most else f"{least} to {most}{unit}"


def _write_config(found: AdviceReport, path: Path) -> None:
    drafts = [draft for draft in found.drafts if draft.adaptive_config is not None]
    if len(drafts) != 1:
        raise UsageError(
            "an adaptive configuration is of one EAGLE or EAGLE3 draft that proposes a chain; "
            f"these runs hold {len(drafts)}",
            hint="Name runs of one draft.",
        )
    if found.knows_adaptive_config is False:
        raise UsageError(
            "the measured build has no --speculative-adaptive-config",
            hint="SGLang 0.5.11 and later have it.",
        )
    (draft,) = drafts
    try:
        path.write_text(json.dumps(draft.adaptive_config, indent=2) + "\n")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
    if found.knows_adaptive_config is None:
        warn("whether the measured build has --speculative-adaptive-config was not said")
    steps = draft.concurrencies[0].best.steps
    start = f", begin with --speculative-num-steps {steps}" if steps else ""
    say(f"{path} written; start with --speculative-adaptive{start}")
