"""How long probes take, from what the ledger remembers of the same profile on the same host."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from specctl.adapters.ledger import Ledger
from specctl.adapters.workloads import read_warm_up
from specctl.domain import figures
from specctl.domain.errors import SpecctlError, UsageError
from specctl.domain.estimate import Estimate, Known, Loop, estimate
from specctl.domain.runs import WITH_FIGURES, RunKind
from specctl.domain.training import key_of
from specctl.domain.trial.trial_json import block_of
from specctl.domain.workload import MOST_STREAMED
from specctl.services.kept_comparison import result_of
from specctl.services.runs import probe_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from specctl.domain.probe import ProbeResult
    from specctl.domain.runs import Run
    from specctl.domain.workload import Workload
    from specctl.services.probing import Settings

NEWEST = 5
"""Runs of a profile that are looked at, of either kind; older ones may be of another build."""


def estimate_probe(
    path: Path, host: str, profile: str | None, settings: Settings, *, now_s: float
) -> Estimate:
    """Of one probe of a server that runs `profile`; an open loop takes as long as it was asked.

    A ledger that cannot be read costs nobody the probe.
    """
    prompts = settings.workload.prompts[: settings.most_prompts]
    sizes = [prompt.max_tokens for prompt in prompts]
    if settings.arrivals is not None:
        last_s = settings.arrivals.due_s(len(sizes))[-1]
        after = " after the training set" if settings.training else ""
        words = f"for the arrivals{after}, and until the last of them is answered"
        return Estimate(last_s, words)
    if profile is None:
        return estimate((), (), why_unknown="the server follows no profile")
    try:
        with closing(Ledger(path)) as ledger:
            runs = _earlier(ledger, host, profile, settings)
            known = [one for run in runs for one in _known(ledger, run, profile, now_s)]
    except SpecctlError as error:
        return estimate((), (), why_unknown=error.message)
    why = f"{profile} was never measured on {host}"
    warm_up = [prompt.max_tokens for prompt in read_warm_up(prompts).prompts]
    loops = (
        *_loops(sizes, warm_up, settings.concurrency),
        *_training_loops(settings.training, settings.concurrency),
    )
    return estimate(loops, known, trained_on=settings.trained_on, why_unknown=why)


def _earlier(ledger: Ledger, host: str, profile: str, settings: Settings) -> list[Run]:
    """The newest, and the newest that were as warm as it is planned."""
    newest = partial(ledger.runs, host=host, profile=profile, kinds=WITH_FIGURES, most=NEWEST)
    alike, others = newest(training=key_of(settings.trained_on)), newest()
    found = {run.id: run for run in (*alike, *others)}
    return sorted(found.values(), key=lambda run: run.began_s, reverse=True)


def _training_loops(training: Workload | None, concurrency: int) -> tuple[Loop, ...]:
    """Before the measured loop, and again before the streamed one."""
    if training is None:
        return ()
    count = len(training.prompts)
    tokens = sum(prompt.max_tokens for prompt in training.prompts)
    return (Loop(count, tokens, min(concurrency, count)),) * 2


def _loops(sizes: list[int], warm_up: list[int], concurrency: int) -> tuple[Loop, ...]:
    # fillers before a loop are half as long in the mean, those after it as long
    filled = round(1.5 * concurrency * max(sizes, default=0)) if concurrency > 1 else 0
    streamed = sizes[:MOST_STREAMED]
    return (
        Loop(len(sizes), sum(sizes) + filled, concurrency),
        Loop(len(streamed), sum(streamed) + filled, concurrency),
        Loop(len(warm_up), sum(warm_up), min(concurrency, len(warm_up))),
    )


def _known(ledger: Ledger, run: Run, profile: str, now_s: float) -> Iterator[Known]:
    """What this run measured of the profile; nothing of what another specctl wrote."""
    words = f"a {run.kind.value} of {figures.age(now_s - run.began_s)} ago"
    try:
        for result in _results(ledger, run, profile):
            if result.open_loop is None and result.forced_by is None:
                yield Known(result, words)
    except (UsageError, ValueError, KeyError, TypeError):
        return


def _results(ledger: Ledger, run: Run, profile: str) -> Iterator[ProbeResult]:
    if run.kind is RunKind.PROBE:
        yield probe_of(run)
    elif run.kind is RunKind.TRIAL:
        side = "A" if run.profiles[0] == profile else "B"
        for block in map(block_of, ledger.blocks(run.id)):
            if block.side == side:
                yield from block.results
    elif run.kind is RunKind.COMPARISON:
        for arm in run.document["arms"]:
            if arm["profile"] == profile and arm["result"] is not None:
                yield result_of(arm["result"])
