"""A profile's expectations against what runs of the ledger measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from specctl.domain.training import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.profile import Profile
    from specctl.domain.run_figures import ArmFigures, PairFigures, RunFigures

ONE_LAUNCH = "one launch each is a number and no evidence: specctl compare with several launches"


class Met(Enum):
    """What became of one expectation; only `met` is no failure."""

    MET = "met"
    MISSED = "missed"
    NOT_SHOWN = "not shown"
    """The interval holds the expected value: more launches would say."""

    NOT_MEASURED = "not measured"
    OUTDATED = "outdated"
    """The profile was changed since."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One expectation and what was measured."""

    host: str
    simulated: bool
    """It was measured on a practice host."""

    profile: str
    figure: str
    """`accept_length` or `speedup`."""

    expected: float
    """At least."""

    measured: float | None
    """None when nothing that may be used measured it."""

    low: float | None
    """Of the interval; None where there is none."""

    high: float | None
    run: str | None
    """That measured it; None when none did."""

    concurrency: int | None
    met: Met
    words: str


@dataclass(frozen=True, slots=True)
class ExpectReport:
    """Every expectation that was looked at."""

    rows: tuple[Expected, ...]
    is_met: bool
    """All of them."""


@dataclass(frozen=True, slots=True)
class _Asked:
    host: str
    profile: Profile
    recipe: str
    concurrency: int | None
    baseline_recipe: str | None = None
    """None: not known any more, so nothing is said of it."""

    def holds(self, arm: ArmFigures) -> bool:
        return arm.profile == self.profile.name and self.concurrency in (None, arm.concurrency)


def report(rows: Sequence[Expected]) -> ExpectReport:
    """All rows together."""
    return ExpectReport(tuple(rows), all(row.met is Met.MET for row in rows))


def expect(
    host: str,
    profile: Profile,
    recipe: str,
    runs: Sequence[RunFigures],
    *,
    concurrency: int | None = None,
    baseline_recipe: str | None = None,
) -> tuple[Expected, ...]:
    """Each expectation of a profile against the first of `runs` that measured it.

    `recipe` and `baseline_recipe` are the hashes of what both are now; without a concurrency the
    first that was measured counts, which is the one a trial's verdict is about. Runs that were warm
    after a training set are not held against it.
    """
    asked = _Asked(host, profile, recipe, concurrency, baseline_recipe)
    warm = [run for run in runs if run.trained_on is not None]
    runs = [run for run in runs if run.trained_on is None]
    rows = []
    if (length := profile.expectation.accept_length) is not None:
        rows.append(_expect_length(asked, length, runs, warm))
    if (speedup := profile.expectation.speedup) is not None:
        rows.append(_expect_speedup(asked, speedup, runs, warm))
    return tuple(rows)


def _expect_length(
    asked: _Asked, expected: float, runs: Sequence[RunFigures], warm: Sequence[RunFigures]
) -> Expected:
    for run in runs:
        for arm in run.arms:
            if asked.holds(arm):
                return _judge_length(asked, expected, run, arm)
    return _not_measured(asked, "accept_length", expected, warm)


def _judge_length(asked: _Asked, expected: float, run: RunFigures, arm: ArmFigures) -> Expected:
    found = arm.accept_length
    met, words = Met.MET, ""
    if run.void:
        met, words = Met.NOT_MEASURED, f"run {run.run} is void: {run.void}"
    elif run.recipes.get(arm.profile, asked.recipe) != asked.recipe:
        met, words = Met.OUTDATED, f"the profile was changed since run {run.run}"
    elif found is None:
        met, words = Met.NOT_MEASURED, f"run {run.run} counted no accept length"
    elif found < expected:
        met, words = Met.MISSED, f"{found / expected - 1:+.1%}"
    return Expected(
        host=asked.host,
        simulated=run.is_simulated,
        profile=arm.profile,
        figure="accept_length",
        expected=expected,
        measured=found,
        low=None,
        high=None,
        run=run.run,
        concurrency=arm.concurrency,
        met=met,
        words=words,
    )


def _expect_speedup(
    asked: _Asked, expected: float, runs: Sequence[RunFigures], warm: Sequence[RunFigures]
) -> Expected:
    for run in runs:
        for pair in run.pairs:
            is_against_it = asked.profile.baseline in (None, pair.base.profile)
            if is_against_it and asked.holds(pair.arm):
                return _judge_speedup(asked, expected, run, pair)
    return _not_measured(asked, "speedup", expected, warm)


def _judge_speedup(asked: _Asked, expected: float, run: RunFigures, pair: PairFigures) -> Expected:
    met, words = _place(expected, pair)
    base, recipe = pair.base.profile, asked.baseline_recipe
    if recipe is not None and run.recipes.get(base, recipe) != recipe:
        met, words = Met.OUTDATED, f"its baseline {base} was changed since run {run.run}"
    if run.recipes.get(pair.arm.profile, asked.recipe) != asked.recipe:
        met, words = Met.OUTDATED, f"the profile was changed since run {run.run}"
    return Expected(
        host=asked.host,
        simulated=run.is_simulated,
        profile=pair.arm.profile,
        figure="speedup",
        expected=expected,
        measured=pair.speedup,
        low=pair.low,
        high=pair.high,
        run=run.run,
        concurrency=pair.arm.concurrency,
        met=met,
        words=words,
    )


def _place(expected: float, pair: PairFigures) -> tuple[Met, str]:
    """Where the interval lies against the expected value."""
    if pair.speedup is None:
        return Met.NOT_MEASURED, "no prompt was answered in both arms"
    if pair.low is None or pair.high is None:
        return Met.NOT_SHOWN, ONE_LAUNCH
    if pair.unsure:
        return Met.NOT_SHOWN, pair.unsure
    if pair.low >= expected:
        return Met.MET, ""
    if pair.high < expected:
        return Met.MISSED, f"{pair.speedup / expected - 1:+.1%}"
    return Met.NOT_SHOWN, "the interval holds the expected value: more launches would say"


def _not_measured(
    asked: _Asked, figure: str, expected: float, warm: Sequence[RunFigures]
) -> Expected:
    profile = asked.profile
    against = f" against {profile.baseline}" if figure == "speedup" and profile.baseline else ""
    return Expected(
        host=asked.host,
        simulated=False,
        profile=profile.name,
        figure=figure,
        expected=expected,
        measured=None,
        low=None,
        high=None,
        run=None,
        concurrency=None,
        met=Met.NOT_MEASURED,
        words=f"no run of the ledger measured it{against}{_only_warm(asked, warm)}",
    )


def _only_warm(asked: _Asked, warm: Sequence[RunFigures]) -> str:
    for run in warm:
        if any(asked.holds(arm) for arm in run.arms):
            return f" cold; {run.kind} {run.run} was {label(run.trained_on)}"
    return ""
