"""What a kept forecast says about a trial: where no earlier run measured it.

A forecast is of a cold server at temperature 0 against plain decoding; the prompts are those of its
own transcripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.training import label

if TYPE_CHECKING:
    from specctl.domain.forecast.report import ForecastReport
    from specctl.domain.trial.predicting import Asked


@dataclass(frozen=True, slots=True)
class Foretold:
    """A forecast of the ledger."""

    run: str
    host: str | None
    """None: it asked no host."""

    recipe: str | None
    """The hash of its profile's recipe."""

    report: ForecastReport

    @property
    def source(self) -> str:
        """`forecast 5c0ffee2 of 40 answers in answers.jsonl, step costs typed`."""
        found = self.report.forecast
        count = found.cold.transcripts
        answers = "1 answer" if count == 1 else f"{count} answers"
        name = self.report.transcripts
        return f"forecast {self.run} of {answers} in {name}, step costs {found.cost_source}"


def why_not_foretold(asked: Asked, one: Foretold, concurrency: int) -> str | None:
    """Why a forecast says nothing of what is asked; None where it may."""
    found, name = one.report.forecast, f"forecast {one.run}"
    reasons = {
        f"{name} was of another recipe": one.recipe != asked.recipes[1],
        f"{name} was of host {one.host}": one.host not in (None, asked.host),
        f"{name} is against plain decoding, and {asked.profiles[0]} speculates": (
            not asked.is_baseline_plain
        ),
        f"{name} is of a cold server, not one {label(asked.trained_on)}": (
            asked.trained_on is not None
        ),
        f"{name} holds for temperature 0": asked.temperature > 0,
        f"{name} is of random token ids": found.is_random,
        f"{name} is of concurrency {found.concurrency}": found.concurrency != concurrency,
        f"{name} has step costs of {', '.join(one.report.cost_hosts)}": bool(
            set(one.report.cost_hosts) - {asked.host}
        ),
        f"{name} has no step costs": found.predicted_speedup is None,
    }
    return next((words for words, holds in reasons.items() if holds), None)
