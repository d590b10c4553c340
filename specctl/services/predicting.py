"""Earlier runs of the ledger as what a trial may be predicted from."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.errors import UsageError
from specctl.domain.runs import RunKind
from specctl.domain.trial.foretelling import Foretold
from specctl.domain.trial.predicting import Asked, predict
from specctl.services.kept_forecast import forecast_of
from specctl.services.run_figures import figures_of
from specctl.services.runs import gather

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specctl.adapters.ledger import Ledger
    from specctl.domain.run_figures import RunFigures
    from specctl.domain.runs import Run
    from specctl.domain.trial.predicting import Predicted
    from specctl.domain.trial.running import TrialPlan

MOST_READ = 10
"""Of each kind, the newest: working out a trial takes long."""


def with_predictions(ledger: Ledger, plan: TrialPlan, *, is_baseline_plain: bool) -> TrialPlan:
    """A plan whose trial is about to begin, with what the ledger says of it.

    `is_baseline_plain`: it decodes without speculation.
    """
    asked = Asked(
        plan.host,
        (plan.baseline, plan.profile),
        plan.recipes,
        plan.workload,
        plan.workload_sha256,
        plan.concurrencies,
        plan.trained_on,
        plan.temperature,
        is_baseline_plain,
    )
    return replace(plan, predicted=predict_trial(ledger, asked))


def predict_trial(ledger: Ledger, asked: Asked) -> tuple[Predicted, ...]:
    """What runs of the ledger say about a trial that is about to begin, by concurrency."""
    read: list[RunFigures] = []
    found = predict(asked, read)
    for run in _earlier(ledger, asked):
        with suppress(UsageError):  # one that measured nothing, or is damaged, predicts nothing
            read.append(figures_of(gather(ledger, run.id)))
        found = predict(asked, read)
        if all(one.speedup is not None for one in found):
            return found
    return predict(asked, read, list(_foretold(ledger, asked)))


def _foretold(ledger: Ledger, asked: Asked) -> Iterator[Foretold]:
    """Forecasts of the profile on the host or on none, the newest first."""
    name = asked.profiles[1]
    found = [
        run
        for host in (asked.host, "")
        for run in ledger.runs(host=host, kind=RunKind.FORECAST, profile=name, most=MOST_READ)
    ]
    for run in sorted(found, key=lambda run: run.began_s, reverse=True):
        with suppress(UsageError):  # a damaged one predicts nothing
            recipe = run.provenance.recipes.get(name)
            yield Foretold(run.id, run.host, recipe, forecast_of(run))


def _earlier(ledger: Ledger, asked: Asked) -> Iterator[Run]:
    """Runs of both arms, the newest first; then the probes of either."""
    base, name = asked.profiles
    both = [
        run
        for kind in (RunKind.TRIAL, RunKind.COMPARISON)
        for run in ledger.runs(host=asked.host, kind=kind, profile=name, most=MOST_READ)
        if base in run.profiles
    ]
    yield from sorted(both, key=lambda run: run.began_s, reverse=True)
    for profile in asked.profiles:
        yield from ledger.runs(host=asked.host, kind=RunKind.PROBE, profile=profile, most=MOST_READ)
