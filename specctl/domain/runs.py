"""What the ledger keeps of every launch, probe and trial, and under which conditions it ran."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.training import TrainedOn


class RunKind(Enum):
    """What was done."""

    LAUNCH = "launch"
    PROBE = "probe"
    TRIAL = "trial"
    COMPARISON = "comparison"
    ACCEPTANCE = "acceptance"
    """Accept lengths forced on a profile, to see which would pay; outputs are not the model's."""

    SCREENING = "screening"
    """Several profiles against each other, to choose the one that a trial is about."""

    FORECAST = "forecast"
    """What n-gram drafts would accept of answers given before; nothing was launched."""


NO_HOST = "no host"


WITH_BLOCKS = frozenset({RunKind.TRIAL, RunKind.SCREENING})
"""Kinds whose launches are kept one by one."""

WITH_FIGURES = frozenset({RunKind.PROBE, RunKind.COMPARISON, RunKind.TRIAL})
"""Kinds that advice, costs and expectations may rest on."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Under which conditions a run was made; None where it could not be known."""

    specctl: str
    """Its version."""

    operator: str
    """`user@machine`."""

    host: str | None
    """None: it was of no host."""

    is_simulated: bool = False
    driver: str | None = None
    gpus: tuple[str, ...] = ()
    """Model names, in the driver's order."""

    gpu_clocks_mhz: tuple[int | None, ...] = ()
    """Streaming-multiprocessor clocks at the time, in the same order."""

    build: str | None = None
    """SGLang's version."""

    tree_hash: str | None = None
    profiles: Mapping[str, str] = field(default_factory=dict)
    """Name to the complete recipe as TOML; secrets by name only."""

    recipes: Mapping[str, str] = field(default_factory=dict)
    """Name to the hash of the recipe."""

    workspace_commit: str | None = None
    """`-dirty` when files differed from it."""

    arguments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Profile to the arguments as its server resolved them, redacted."""

    workload: str | None = None
    workload_sha256: str | None = None
    rendering: str | None = None
    """How prompts became tokens: the hashes of tokenizer and chat template."""

    trained_on: TrainedOn | None = None
    """What servers were sent before each window; None: they were measured cold."""


@dataclass(frozen=True, slots=True)
class Run:
    """One entry of the ledger."""

    id: str
    kind: RunKind
    host: str | None
    profiles: tuple[str, ...]
    """The baseline first, where there is one."""

    began_s: float
    """By the operator's clock."""

    ended_s: float | None
    """None: it runs, or was cut off."""

    outcome: str
    """In words, e.g. the verdict; empty while it runs."""

    provenance: Provenance
    document: Mapping[str, Any] = field(default_factory=dict)
    """The run itself as JSON, by kind."""

    @property
    def where(self) -> str:
        """Its host in words."""
        return self.host or NO_HOST


@dataclass(frozen=True, slots=True)
class RunBrief:
    """One entry of the ledger, without what was measured."""

    id: str
    kind: RunKind
    host: str | None
    profiles: tuple[str, ...]
    began_s: float
    ended_s: float | None
    outcome: str
    simulated: bool
    trained_on: TrainedOn | None = None
    """What servers were sent before each window; None: nothing, or nothing was measured."""

    @property
    def where(self) -> str:
        """Its host in words."""
        return self.host or NO_HOST


@dataclass(frozen=True, slots=True)
class RunList:
    """Entries of the ledger, the newest first."""

    runs: tuple[RunBrief, ...]


def brief(run: Run) -> RunBrief:
    """A run without its document."""
    return RunBrief(
        run.id,
        run.kind,
        run.host,
        run.profiles,
        run.began_s,
        run.ended_s,
        run.outcome,
        run.provenance.is_simulated,
        run.provenance.trained_on,
    )
