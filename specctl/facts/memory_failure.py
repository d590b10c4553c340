"""Running out of GPU memory: in which phase it happened, and which knob of this version helps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specctl.domain.server import Milestone
from specctl.domain.versions import is_at_least
from specctl.facts.failure_rules import CauseKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.facts.milestones import MilestoneTracker

_SPLIT_GRAPH_FLAGS_SINCE = "0.5.20"
"""--cuda-graph-max-bs became --cuda-graph-max-bs-decode; the old name is an ambiguous prefix."""

_CAPTURE_FAILED = re.compile(r"Capture (?P<what>.*?)graph failed", re.IGNORECASE)
_DRAFT_FRAME = re.compile(r"draft", re.IGNORECASE)
_SIZE = re.compile(
    r"Tried to allocate (?P<asked>[\d.]+ [KMGT]iB)"
    r"[\s\S]{0,400}?of which (?P<free>[\d.]+ [KMGT]iB) is free"
)

_FRACTION = re.compile(r"\bmem_fraction_static(?:=|['\"]: )(?P<share>[01]\.\d+)")
_HIGH_FRACTION = 0.93
"""What little it leaves is soon too little for graphs."""

_GRAPHS = (CauseKind.OOM_TARGET_GRAPH, CauseKind.OOM_DRAFT_GRAPH)

_WORDS = {
    CauseKind.OOM_WEIGHTS: "while reading the weights",
    CauseKind.OOM_DRAFT_WEIGHTS: "while reading the draft's weights",
    CauseKind.OOM_KV_POOL: "while allocating the KV pool",
    CauseKind.OOM_TARGET_GRAPH: "while capturing the target's graphs",
    CauseKind.OOM_DRAFT_GRAPH: "while capturing the draft's graphs",
    CauseKind.OOM_RUNTIME: "while serving",
}


def phase_words(kind: CauseKind) -> str:
    """`while capturing the draft's graphs`; empty when the phase is not known."""
    return _WORDS.get(kind, "in a phase the log does not show")


def sizes_in(text: str) -> str:
    """`: 672.00 MiB asked, 200.75 MiB free`; empty when the text does not say."""
    size = _SIZE.search(text)
    return f": {size['asked']} asked, {size['free']} free" if size else ""


def memory_kind(tracker: MilestoneTracker, text: str) -> CauseKind:
    """In which phase memory ran out, from the milestones before it and the failure's own words."""
    failed = _CAPTURE_FAILED.search(text)
    if failed is not None:
        is_draft = _DRAFT_FRAME.search(failed["what"]) or tracker.graph == "draft"
        is_draft = is_draft or "draft_cuda_graph_runner" in text or "draft_extend" in text
        return CauseKind.OOM_DRAFT_GRAPH if is_draft else CauseKind.OOM_TARGET_GRAPH
    if tracker.milestone in (Milestone.READY, Milestone.WARM_UP):
        return CauseKind.OOM_RUNTIME
    return _start_kind(tracker)


_NEXT_TO_FILL = {
    (Milestone.WEIGHTS, False): CauseKind.OOM_WEIGHTS,
    (Milestone.DRAFT_WEIGHTS, False): CauseKind.OOM_DRAFT_WEIGHTS,
    (Milestone.WEIGHTS, True): CauseKind.OOM_KV_POOL,
    (Milestone.DRAFT_WEIGHTS, True): CauseKind.OOM_KV_POOL,
    (Milestone.NGRAM_BUILD, False): CauseKind.OOM_KV_POOL,
    (Milestone.MEMORY_POOL, False): CauseKind.OOM_KV_POOL,
    (Milestone.MEMORY_POOL, True): CauseKind.OOM_TARGET_GRAPH,
    (Milestone.GRAPH_CAPTURE, True): CauseKind.OOM_RUNTIME,
}
"""What takes memory in a phase, and, once the phase is done, what takes it next."""


def _start_kind(tracker: MilestoneTracker) -> CauseKind:
    if tracker.phase is Milestone.GRAPH_CAPTURE and not tracker.is_phase_done:
        is_draft = tracker.graph == "draft"
        return CauseKind.OOM_DRAFT_GRAPH if is_draft else CauseKind.OOM_TARGET_GRAPH
    if tracker.phase is None:
        return CauseKind.OOM
    return _NEXT_TO_FILL.get((tracker.phase, tracker.is_phase_done), CauseKind.OOM)


def graph_flag(version: str | None) -> str:
    """What limits the captured batch sizes in this version."""
    match is_at_least(version, _SPLIT_GRAPH_FLAGS_SINCE):
        case True:
            return "--cuda-graph-max-bs-decode"
        case False:
            return "--cuda-graph-max-bs"
        case None:
            return "--cuda-graph-max-bs (--cuda-graph-max-bs-decode since 0.5.20)"


_STEPS = {
    CauseKind.OOM_WEIGHTS: "Use more GPUs (--tp-size) or a quantized model; check who else holds "
    "the GPUs.",
    CauseKind.OOM_DRAFT_WEIGHTS: "Lower --mem-fraction-static, or use more GPUs (--tp-size); check "
    "who else holds the GPUs.",
    CauseKind.OOM_KV_POOL: "Lower --mem-fraction-static; check who else holds the GPUs.",
    CauseKind.KV_POOL_TOO_SMALL: "Raise --mem-fraction-static, use more GPUs, or drop the draft "
    "model: it takes its share first.",
    CauseKind.OOM_TARGET_GRAPH: "Lower {graph} (e.g. 16), else --mem-fraction-static.",
    CauseKind.OOM_DRAFT_GRAPH: "Lower {graph} (e.g. 16), else --mem-fraction-static.",
    CauseKind.OOM_RUNTIME: "Lower --mem-fraction-static or --max-running-requests.",
}


def fraction_in(arguments: str) -> float | None:
    """mem_fraction_static of the line in which a start says its arguments."""
    found = _FRACTION.search(arguments)
    return float(found["share"]) if found else None


def memory_step(kind: CauseKind, version: str | None, fraction: float | None = None) -> str:
    """One thing to change, spelled for `version`; `fraction` of the memory is given away."""
    step = _STEPS.get(kind, "Lower --mem-fraction-static, else {graph}.")
    if kind in _GRAPHS and fraction is not None and fraction >= _HIGH_FRACTION:
        step = "Lower --mem-fraction-static, which is {fraction:g}; else {graph} (e.g. 16)."
    return step.format(graph=graph_flag(version), fraction=fraction)


def memory_dead_end(kinds: Iterable[str], version: str | None) -> str | None:
    """Advice once starts ran into both walls: too little for the pool, and too much in all.

    Turning --mem-fraction-static cannot help then; None while only one wall was met.
    """
    met = set(kinds)
    is_too_small = CauseKind.KV_POOL_TOO_SMALL in met
    is_too_big = any(kind.startswith(CauseKind.OOM) for kind in met)
    if not (is_too_small and is_too_big):
        return None
    return (
        "It does not fit by --mem-fraction-static alone: lower "
        f"{graph_flag(version)}, --max-running-requests, --context-length or "
        "--speculative-num-draft-tokens, or use more GPUs."
    )
