"""`specctl breakeven`: no host, only numbers, typed or of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from specctl.cli.invocation import json_option
from specctl.cli.output import style, write, write_json
from specctl.cli.simulated import SHOWN
from specctl.domain.breakeven import Typed, curve, work_out
from specctl.domain.errors import UsageError
from specctl.domain.figures import fixed
from specctl.domain.host import Host
from specctl.domain.plain import plain
from specctl.domain.published import BreakEvenAnswer, CurvePoint

if TYPE_CHECKING:
    from specctl.domain.breakeven import BreakEven

CURVE = tuple(tenths / 20 for tenths in range(21))
BAR_CELLS = 40
CURVE_HEADER = "\naccuracy  accept length  speedup"


@click.command()
@click.option(
    "--base-ms", type=float, metavar="MS", help="Milliseconds per token without speculation."
)
@click.option(
    "--base-tps", type=float, metavar="TOK/S", help="Or its tok/s, one request at a time."
)
@click.option(
    "--step-ms", type=float, metavar="MS", help="Milliseconds of a whole speculative step."
)
@click.option("--draft-ms", type=float, metavar="MS", help="Or its parts: drafting,")
@click.option("--verify-ms", type=float, metavar="MS", help="verifying,")
@click.option("--overhead-ms", type=float, metavar="MS", help="and everything between.")
@click.option(
    "--tps", type=float, metavar="TOK/S", help="Or measured tok/s at the --accept-length given."
)
@click.option(
    "--accept-length", type=float, metavar="TOKENS", help="Tokens per step, bonus token included."
)
@click.option(
    "--accuracy",
    type=float,
    metavar="SHARE",
    help="Share of drafts that are right, 0-1; needs --steps.",
)
@click.option("--steps", type=int, metavar="N", help="Draft steps.")
@click.option(
    "--measured", metavar="RUN",
    help="Plain and speculative step of a trial or comparison of the ledger.",
)  # fmt: skip
@click.option("--curve", "draw", is_flag=True, help="Speedup along the accuracy; needs --steps.")
@json_option
def command(*, draw: bool, as_json: bool, measured: str | None, **numbers: Any) -> None:
    """Say which accept length pays for a speculative step, and whether a drafter reaches it.

    Given --tps and --accept-length together with --accuracy, the first two say what a step costs
    and the accuracy says what another drafter would bring at that cost; so does --measured, of
    a run's first concurrency.

    \b
    specctl breakeven --base-ms 17.1 --step-ms 28.8 --accept-length 1.5
    specctl breakeven --base-tps 58 --step-ms 28.8 --accuracy 0.6 --steps 3
    specctl breakeven --measured 5c0f --accuracy 0.75 --steps 3
    specctl breakeven --base-ms 17.1 --step-ms 28.8 --steps 3 --curve
    """  # noqa: D301  click reads \b
    typed = Typed(**numbers)
    if measured is not None:
        typed = _with_measured(typed, measured)
    found = work_out(typed)
    points = curve(typed, accuracies=CURVE) if draw else ()
    if as_json:
        write_json("breakeven", plain(published(found, points)))
        return
    _write_text(found, typed)
    if points:
        write(CURVE_HEADER)
    for point in points:
        _write_point(*point)


def _with_measured(typed: Typed, name: str) -> Typed:
    """Both step times of a run; raises UsageError where they are typed too, or not measured."""
    from specctl.cli.compare_trial import open_ledger
    from specctl.services.run_figures import find_figures

    given = (
        typed.base_ms,
        typed.base_tps,
        typed.step_ms,
        typed.draft_ms,
        typed.verify_ms,
        typed.tps,
    )
    if any(value is not None for value in given):
        raise UsageError("--measured gives both step times: type none beside it")
    with open_ledger() as ledger:
        (figures,) = find_figures(ledger, (name,))
    SHOWN.notice(Host(figures.host, is_simulated=figures.is_simulated))
    if not figures.pairs or figures.void:
        why = figures.void or "it is of one profile"
        raise UsageError(
            f"run {figures.run} does not tell a plain step from a speculative one: {why}",
            hint="specctl runs list --kind trial shows the trials.",
        )
    pair = figures.pairs[0]
    if not pair.base.step_s or not pair.arm.step_s:
        raise UsageError(f"run {figures.run} measured no step times")
    return replace(typed, base_ms=pair.base.step_s * 1000, step_ms=pair.arm.step_s * 1000)


def published(
    found: BreakEven, points: tuple[tuple[float, float, float | None], ...]
) -> BreakEvenAnswer:
    """A break-even as it is published."""
    return BreakEvenAnswer(
        base_ms=found.base_ms,
        step_ms=found.step_ms,
        break_even_accept_length=found.break_even_accept_length,
        accept_length=found.accept_length,
        accept_length_source=found.accept_length_source or None,
        predicted_tps=found.predicted_tps,
        predicted_speedup=found.predicted_speedup,
        worth_it=found.worth_it,
        needed_accuracy=found.needed_accuracy,
        unknown=found.unknown or None,
        notes=found.notes,
        suspects=found.suspects,
        curve=tuple(CurvePoint(*point) for point in points),
    )


def _write_text(found: BreakEven, typed: Typed) -> None:
    rows = (
        ("plain step", fixed(found.base_ms, 2, " ms")),
        ("speculative step", fixed(found.step_ms, 2, " ms")),
        ("break-even accept length", fixed(found.break_even_accept_length, 2)),
        ("accept length", f"{fixed(found.accept_length, 2)}  {found.accept_length_source}"),
        ("predicted", fixed(found.predicted_tps, 1, " tok/s")),
        ("predicted speedup", fixed(found.predicted_speedup, 2, "x")),
        ("accuracy to break even", _accuracy(found, typed)),
    )
    for label, value in rows:
        write(f"{label:<26}{value}".rstrip())
    write()
    write(style(_verdict(found), "bold"))
    for words in (*found.notes, *found.suspects):
        write(f"- {words}")


def _accuracy(found: BreakEven, typed: Typed) -> str:
    if found.needed_accuracy is not None:
        return fixed(found.needed_accuracy, 2)
    if typed.steps is None:
        return "—  needs --steps"
    if found.break_even_accept_length is None:
        return "—  needs a baseline"
    return "—  none: too few steps"


def _verdict(found: BreakEven) -> str:
    if found.worth_it is None:
        return f"Cannot be said: {found.unknown}."
    return "Worth it." if found.worth_it else "Not worth it."


def _write_point(accuracy: float, length: float, speedup: float | None) -> None:
    cells = min(BAR_CELLS, round((speedup or 0.0) * BAR_CELLS / 4))
    colour = "green" if speedup is not None and speedup > 1 else "red"
    bar = style("#" * cells, colour)
    write(f"{accuracy:8.0%}  {length:13.2f}  {fixed(speedup, 2, 'x'):>7}  {bar}".rstrip())
