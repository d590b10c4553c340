"""A checked draft as it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.checkpoint.findings import worst
from specctl.domain.checkpoint.memory import DraftMemory, memory_of
from specctl.domain.checkpoint.tokens import agreement_of, coverage_of
from specctl.domain.checkpoint.vocabulary import table_of

if TYPE_CHECKING:
    from specctl.domain.checkpoint.table import Agreement, Coverage, TableForm
    from specctl.domain.checkpoint.values import (
        Checkpoint,
        Finding,
        ModelConfig,
        Pairing,
        Severity,
        WeightsForm,
    )
    from specctl.domain.missing import Reasons


@dataclass(frozen=True, slots=True)
class CheckpointSummary:
    """One model directory."""

    name: str
    """As it was asked for."""

    path: str
    commit: str | None
    """Of a repository's snapshot; None for a path."""

    form: WeightsForm
    config: ModelConfig | None
    tensors: int
    """Whose headers were read."""

    weight_bytes: int | None
    """By the headers; None where they were not read."""

    d2t_entries: int | None
    """None where there is no table, or it was not read."""

    d2t_form: TableForm | None
    missing: Reasons


@dataclass(frozen=True, slots=True)
class CheckpointReport:
    """A draft beside its target."""

    host: str
    algorithm: str
    """Empty when the draft's architecture tells none and none was named."""

    is_algorithm_asked: bool
    """It was named, not told by the draft's architecture."""

    target: CheckpointSummary
    draft: CheckpointSummary
    against: CheckpointSummary | None
    """None without --against."""

    findings: tuple[Finding, ...]
    severity: Severity
    """The worst of all findings."""

    agreement: Agreement | None
    """None without --against, and where a table is not known."""

    coverage: Coverage | None
    """None without --transcripts, and where a table is not known."""

    memory: DraftMemory | None
    """None where the draft's headers were not read."""

    bytes_read: int
    """Of files on the host, the draft's d2t left out."""

    table_bytes: int
    """Of d2t."""

    hashed_bytes: int
    """Of vocabulary files, compared on the host and not sent."""

    elapsed_s: float


def report(
    pairing: Pairing,
    findings: tuple[Finding, ...],
    *,
    host: str,
    is_algorithm_asked: bool,
    bytes_read: int,
    table_bytes: int,
    elapsed_s: float,
) -> CheckpointReport:
    """What is published of a checked draft."""
    return CheckpointReport(
        host=host,
        algorithm=pairing.algorithm,
        is_algorithm_asked=is_algorithm_asked,
        target=_summary(pairing.target, pairing),
        draft=_summary(pairing.draft, pairing),
        against=_summary(pairing.other, pairing) if pairing.other is not None else None,
        findings=findings,
        severity=worst(findings),
        agreement=agreement_of(pairing),
        coverage=coverage_of(pairing),
        memory=memory_of(pairing),
        bytes_read=bytes_read,
        table_bytes=table_bytes,
        hashed_bytes=pairing.vocabularies.hashed_bytes,
        elapsed_s=round(elapsed_s, 3),
    )


def _summary(checkpoint: Checkpoint, pairing: Pairing) -> CheckpointSummary:
    vocabulary = pairing.target.config.vocab_size if pairing.target.config else None
    table = table_of(checkpoint, vocabulary)
    return CheckpointSummary(
        name=checkpoint.name,
        path=checkpoint.path,
        commit=checkpoint.commit,
        form=checkpoint.form,
        config=checkpoint.config,
        tensors=len(checkpoint.tensors),
        weight_bytes=checkpoint.weight_bytes,
        d2t_entries=len(checkpoint.d2t) if checkpoint.d2t is not None else None,
        d2t_form=table.form if table is not None else None,
        missing=checkpoint.missing,
    )
