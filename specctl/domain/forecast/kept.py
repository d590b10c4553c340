"""A forecast as it is kept in the ledger, and worked out again from its histograms and costs."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import TYPE_CHECKING, Any

from specctl.domain.acceptance import (
    add_histograms,
    conditional_acceptance,
    marginal_acceptance,
)
from specctl.domain.figures import UNKNOWN, fixed
from specctl.domain.forecast.answer import Forecast
from specctl.domain.forecast.corpora import CorpusRow
from specctl.domain.forecast.report import ForecastReport, InputFile
from specctl.domain.ngram.settings import NgramSettings
from specctl.domain.plain import plain
from specctl.domain.unplain import object_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specctl.domain.forecast.answer import Estimate

_NAMES = {
    "Forecast": Forecast,
    "CorpusRow": CorpusRow,
    "InputFile": InputFile,
    "NgramSettings": NgramSettings,
}
NEARLY = 1e-9
"""By which the same sums may differ."""


def report_json(report: ForecastReport) -> dict[str, Any]:
    """A forecast without its run's id; `report_of` is the way back."""
    found: dict[str, Any] = plain(replace(report, run=None))
    return found


def report_of(value: Mapping[str, Any]) -> ForecastReport:
    """The forecast of its JSON; raises ValueError with the path of what is wrong."""
    return object_of(ForecastReport, value, _NAMES)


def outcome_words(found: Forecast) -> str:
    """`accept length 1.98 cold, 2.41 warm; predicted 1.21x cold, 1.47x warm`."""
    if found.is_random:
        return "random token ids: nothing can be said"
    warm = "" if found.warm is None else f", {fixed(found.warm.accept_length, 2)} warm"
    words = f"accept length {fixed(found.cold.accept_length, 2)} cold{warm}"
    if found.predicted_speedup is None:
        return f"{words}; no step cost"
    words += f"; predicted {fixed(found.predicted_speedup, 2, 'x')} cold"
    faster = found.predicted_speedup_warm
    return words if faster is None else f"{words}, {fixed(faster, 2, 'x')} warm"


def work_out_again(found: Forecast) -> Forecast:
    """Accept lengths from the histograms of the categories, speedups from those and the costs.

    A step that accepts k drafts emits k + 1 tokens. Held-out answers are not kept by category, nor
    other settings by histogram.
    """
    categories = tuple(
        replace(one, cold=_again(one.cold), warm=None if one.warm is None else _again(one.warm))
        for one in found.categories
    )
    cold = _sum(found.cold, [one.cold for one in categories])
    warm = None
    if found.warm is not None:
        warm = _sum(found.warm, [one.warm for one in categories if one.warm is not None])
    even = found.step_ms / found.base_ms if found.step_ms and found.base_ms else None
    return replace(
        found,
        categories=categories,
        cold=cold,
        warm=warm,
        held_out=None if found.held_out is None else _again(found.held_out),
        break_even=even,
        predicted_speedup=_speedup(cold, even),
        predicted_speedup_warm=None if warm is None else _speedup(warm, even),
    )


def find_changes(recorded: Forecast, again: Forecast) -> tuple[str, ...]:
    """Each figure that comes out otherwise than it was recorded, in words."""
    pairs = zip(_figures(recorded), _figures(again), strict=True)
    return tuple(
        f"{name}: {_shown(new)}, recorded {_shown(old)}"
        for (name, old), (_, new) in pairs
        if not _is_same(old, new)
    )


def _again(found: Estimate) -> Estimate:
    return _of_histogram(found, found.histogram)


def _sum(found: Estimate, parts: Sequence[Estimate]) -> Estimate:
    return _of_histogram(found, add_histograms(one.histogram for one in parts) or ())


def _of_histogram(found: Estimate, histogram: Sequence[int]) -> Estimate:
    steps = sum(histogram)
    tokens = sum((drafts + 1) * count for drafts, count in enumerate(histogram))
    return replace(
        found,
        tokens=tokens,
        steps=steps,
        accept_length=tokens / steps if steps else None,
        histogram=tuple(histogram),
        marginal_acceptance=marginal_acceptance(histogram),
        conditional_acceptance=conditional_acceptance(histogram),
    )


def _speedup(found: Estimate, even: float | None) -> float | None:
    return None if even is None or found.accept_length is None else found.accept_length / even


def _figures(found: Forecast) -> Iterator[tuple[str, float | None]]:
    lengths = [("cold", found.cold), ("held out", found.held_out), ("warm", found.warm)]
    lengths += [(f"{one.category} cold", one.cold) for one in found.categories]
    lengths += [(f"{one.category} warm", one.warm) for one in found.categories]
    for name, estimate in lengths:
        yield f"accept length {name}", None if estimate is None else estimate.accept_length
    yield "break-even accept length", found.break_even
    yield "predicted speedup cold", found.predicted_speedup
    yield "predicted speedup warm", found.predicted_speedup_warm


def _is_same(old: float | None, new: float | None) -> bool:
    if old is None or new is None:
        return old is new
    return isclose(old, new, rel_tol=NEARLY)


def _shown(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.4f}"
