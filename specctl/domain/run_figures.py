"""What runs of the ledger measured, arm by arm: the input of advice, costs and expectations."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from specctl.domain.acceptance import add_histograms, marginal_acceptance
from specctl.domain.trial.first_tokens import NOT_TIMED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.missing import Missing
    from specctl.domain.probe import ProbeResult
    from specctl.domain.training import TrainedOn
    from specctl.domain.trial.first_tokens import FirstTokens


@dataclass(frozen=True, slots=True)
class ArmFigures:
    """One profile at one concurrency, its launches added up; None where no launch gave it."""

    profile: str
    concurrency: int
    launches: int
    algorithm: str | None
    """None without speculation."""

    steps: int | None
    topk: int | None
    draft_tokens: int | None
    draft_model: str | None
    step_s: float | None
    """Decode time per verify step, or per token without speculation; mean over launches."""

    accept_length: float | None
    histogram: tuple[int, ...] | None
    """Of all launches together: [k] = verify steps that accepted exactly k drafts."""

    recorded_step_s: float | None = None
    """The step time that the server itself recorded, where the build was told to."""

    @property
    def marginals(self) -> tuple[float, ...]:
        """Share of the verify steps that accepted at least 1, 2, 3 … drafts."""
        return marginal_acceptance(self.histogram or ())

    @property
    def is_chain(self) -> bool | None:
        """One draft after the other, so that fewer steps are known from more; None: not said."""
        if self.algorithm is None or self.algorithm == "NGRAM":
            return False
        if self.steps is None or self.draft_tokens is None:
            return None
        return self.topk in (None, 1) and self.draft_tokens == self.steps + 1


@dataclass(frozen=True, slots=True)
class PairFigures:
    """An arm and its baseline at one concurrency of one run."""

    run: str
    base: ArmFigures
    arm: ArmFigures
    speedup: float | None
    """Time of the same tokens: the baseline's over the arm's."""

    low: float | None = None
    """Of its interval; None for one launch each."""

    high: float | None = None
    unsure: str = ""
    """Why the interval is no evidence, though there is one; empty when it is."""

    first_tokens: FirstTokens | Missing = NOT_TIMED
    """How long both took until first tokens; else why that is not known."""

    @property
    def break_even(self) -> float | None:
        """AL*: what a step of the arm costs in plain ones."""
        if not self.base.step_s or self.arm.step_s is None:
            return None
        return self.arm.step_s / self.base.step_s


@dataclass(frozen=True, slots=True)
class RunFigures:
    """One run: its pairs, or the one arm of a probe."""

    run: str
    kind: str
    host: str
    workload_sha256: str | None
    build: str | None
    recipes: Mapping[str, str]
    """Profile to the hash of its recipe."""

    pairs: tuple[PairFigures, ...]
    arms: tuple[ArmFigures, ...]
    """Every arm at every concurrency, the baseline's among them."""

    knows_adaptive_config: bool | None = None
    """The build has `--speculative-adaptive-config`; None: it was not said."""

    is_simulated: bool = False
    workload: str | None = None
    """Its name."""

    trained_on: TrainedOn | None = None
    """What servers were sent before each window; None: they were measured cold."""

    void: str = ""
    """Why its figures must not be used; empty when they may."""


def add_arm(
    profile: str,
    concurrency: int,
    results: Sequence[ProbeResult],
    arguments: Mapping[str, Any],
    recorded_s: Sequence[float] = (),
) -> ArmFigures:
    """The launches of one arm together; `arguments` as its server resolved them."""
    histograms = [result.histogram for result in results if result.histogram is not None]
    draft_model = arguments.get("speculative_draft_model_path")
    return ArmFigures(
        profile=profile,
        concurrency=concurrency,
        launches=len(results),
        algorithm=next((one.algorithm for one in results if one.algorithm), None),
        steps=_count(arguments, "speculative_num_steps"),
        topk=_count(arguments, "speculative_eagle_topk"),
        draft_tokens=_count(arguments, "speculative_num_draft_tokens"),
        draft_model=draft_model if isinstance(draft_model, str) else None,
        step_s=_mean([result.step_s for result in results]),
        accept_length=_mean([result.accept_length for result in results]),
        histogram=add_histograms(histograms),
        recorded_step_s=_mean(recorded_s),
    )


def _count(arguments: Mapping[str, Any], key: str) -> int | None:
    value = arguments.get(key)
    return value if type(value) is int else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
