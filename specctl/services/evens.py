"""Break-even accept lengths that runs of the ledger give, by host and profile."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from typing import TYPE_CHECKING

from specctl.adapters.ledger import Ledger, may_pass
from specctl.adapters.paths import written_ns
from specctl.domain.alerts.judging import Even
from specctl.domain.errors import UsageError
from specctl.domain.runs import RunKind
from specctl.domain.training import warm_words
from specctl.services.run_figures import figures_of
from specctl.services.runs import gather

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.adapters.workspace import Workspace
    from specctl.domain.run_figures import RunFigures
    from specctl.domain.training import TrainedOn

HINT = "stop it, or try another draft length: specctl advise"
MOST_READ = 30
"""So many of the newest trials, comparisons and probes are read, each."""

READ_EVERY_S = 20.0
KINDS = (RunKind.TRIAL, RunKind.COMPARISON, RunKind.PROBE)

Evens = dict[str, dict[str, Even]]
"""Host to profile to break-even."""


class KnownEvens:
    """What the ledger says, read again when it was written to."""

    def __init__(self, path: Path, workspace: Workspace) -> None:
        self._path = path
        self._baselines = {
            name: profile.baseline
            for name, profile in workspace.profiles().items()
            if profile.baseline
        }
        self._known: Evens = {}
        self._mark: tuple[int, ...] = ()

    def __call__(self, host: str) -> Mapping[str, Even]:
        """The break-evens of a host by profile."""
        return self._known.get(host, {})

    async def follow(self, clock: Clock) -> None:
        """Read the ledger now and whenever it changed, until cancelled."""
        while True:
            await self.read()
            await clock.sleep(READ_EVERY_S)

    async def read(self) -> None:
        """Read the ledger, unless it is as it was; one that cannot be read is tried again."""
        mark = await asyncio.to_thread(ledger_mark, self._path)
        if mark == self._mark:
            return
        with suppress(UsageError):  # busy or damaged: what is known stands, and so does the mark
            self._known = await asyncio.to_thread(read_evens, self._path, self._baselines)
            self._mark = mark


def ledger_mark(path: Path) -> tuple[int, ...]:
    """Changes when the ledger or its write-ahead log does; empty without one."""
    times = (written_ns(path), written_ns(path.with_name(path.name + "-wal")))
    return tuple(at_ns for at_ns in times if at_ns is not None)


def read_evens(path: Path, baselines: Mapping[str, str]) -> Evens:
    """What the ledger knows, nothing where there is none; UsageError where it cannot be read."""
    if not ledger_mark(path):
        return {}
    found: list[tuple[float, RunFigures]] = []
    with closing(Ledger(path)) as ledger:
        for kind in KINDS:
            found += _read(ledger, kind)
    runs = [figures for _, figures in sorted(found, key=lambda one: one[0])]
    return gathered([run for run in runs if not run.void], baselines)


def _read(ledger: Ledger, kind: RunKind) -> Iterator[tuple[float, RunFigures]]:
    """Figures and when they began; of runs about the same profiles none before one that tells all.

    Working out a trial takes long: an older one would be outdone anyway.
    """
    told: set[tuple[str, tuple[str, ...], TrainedOn | None]] = set()
    for run in ledger.runs(kind=kind, most=MOST_READ):
        about = run.where, run.profiles, run.provenance.trained_on
        if about in told:
            continue
        figures = _figures(ledger, run.id)
        if figures is None:
            continue
        yield run.began_s, figures
        if _tells_all(figures, run.profiles):
            told.add(about)


def _figures(ledger: Ledger, run_id: str) -> RunFigures | None:
    """None of a run that measured nothing, or is damaged; UsageError while the ledger is busy."""
    try:
        return figures_of(gather(ledger, run_id))
    except UsageError as error:
        if may_pass(error):
            raise
        return None


def _tells_all(figures: RunFigures, profiles: Sequence[str]) -> bool:
    """It gives every profile but the baseline its break-even."""
    given = {pair.arm.profile for pair in figures.pairs if pair.break_even is not None}
    return not figures.void and bool(given) and given >= set(profiles[1:])


def gathered(runs: Sequence[RunFigures], baselines: Mapping[str, str]) -> Evens:
    """Break-evens of runs in the order of their time: the newest cold one of each profile counts.

    Two probes, of a profile and of its baseline, give one where no run measured both. One that was
    warm after a training set counts where no cold one is known, and is called warm.
    """
    cold = _gathered([run for run in runs if run.trained_on is None], baselines)
    warm: Evens = {}
    for trained_on in dict.fromkeys(run.trained_on for run in runs if run.trained_on):
        alike = [run for run in runs if run.trained_on == trained_on]
        for host, evens in _gathered(alike, baselines).items():
            warm.setdefault(host, {}).update(evens)
    return {host: {**warm.get(host, {}), **cold.get(host, {})} for host in (*warm, *cold)}


def _gathered(runs: Sequence[RunFigures], baselines: Mapping[str, str]) -> Evens:
    """Of runs that are all cold, or all warm after the same set."""
    out: Evens = {}
    steps: dict[tuple[str, str, int], float] = {}
    warm = warm_words(runs[0].trained_on) if runs else ""
    for run in runs:
        for arm in run.arms if not run.pairs else ():
            if arm.step_s is not None:
                steps[run.host, arm.profile, arm.concurrency] = arm.step_s
        for pair in reversed(run.pairs):  # the smallest batch last: it stays
            if pair.break_even is not None:
                source = f"{run.kind} {run.run}, {pair.arm.concurrency} at a time{warm}"
                even = Even(pair.break_even, source, f"{HINT} {run.run}")
                out.setdefault(run.host, {})[pair.arm.profile] = even
    for (host, profile, concurrency), step_s in sorted(steps.items(), reverse=True):
        base_s = steps.get((host, baselines.get(profile, ""), concurrency))
        if base_s and profile not in out.get(host, {}):
            source = f"probes of it and {baselines[profile]}, {concurrency} at a time{warm}"
            out.setdefault(host, {})[profile] = Even(step_s / base_s, source)
    return out
