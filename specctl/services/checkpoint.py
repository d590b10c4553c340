"""A draft checked beside its target on a host, from their small files."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from specctl.adapters.clock import SystemClock
from specctl.adapters.oneshot import run_oneshot
from specctl.domain.checkpoint.judging import judge
from specctl.domain.checkpoint.kinds import WITHOUT_DRAFT, Kind, algorithm_for, canonical, kind_in
from specctl.domain.checkpoint.values import Pairing, TokenCounts, Vocabularies
from specctl.domain.command import parse_argv, server_argv, server_environment
from specctl.domain.errors import DeadlineError, HostError, RemoteFailedError, UsageError
from specctl.domain.missing import Missing, Why
from specctl.facts.vocabularies import read_counts, read_vocabularies
from specctl.services.build_models import find_models
from specctl.services.checkpoint_reading import (
    read_checkpoint,
    with_names,
    with_tensors,
    with_tokens,
)
from specctl.services.host_files import FileReader
from specctl.services.preflight import read_variables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.adapters.clock import Clock
    from specctl.domain.checkpoint.values import Checkpoint, Finding
    from specctl.domain.host import Host
    from specctl.domain.profile import Profile
    from specctl.facts.transcripts import Transcript
    from specctl.services.connection import Connection

VOCABULARIES_S = 60.0
COUNT_S = 300.0
MOST_TEXT_BYTES = 8 << 20
"""Of texts sent to be tokenised."""


@dataclass(frozen=True, slots=True)
class CheckpointRequest:
    """What is to be checked."""

    target: str
    draft: str
    algorithm: str | None = None
    """None: the one the draft's architecture is made for."""

    other: str | None = None
    transcript: Transcript | None = None
    transcript_name: str = ""
    tp_size: int = 1
    context_length: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    """That the server would have; it may move the cache."""

    draft_revision: str | None = None
    target_revision: str | None = None

    def with_options(
        self,
        *,
        algorithm: str | None = None,
        other: str | None = None,
        tp_size: int | None = None,
        transcript: Transcript | None = None,
        transcript_name: str = "",
    ) -> CheckpointRequest:
        """The same, with what was said beside it; what was not said stays."""
        return replace(
            self,
            algorithm=algorithm or self.algorithm,
            other=other,
            tp_size=tp_size or self.tp_size,
            transcript=transcript,
            transcript_name=transcript_name,
        )


def request_of(profile: Profile, host: Host | None = None) -> CheckpointRequest:
    """The check that a profile asks for; raises UsageError when it names no draft.

    Without a draft path a target's own layers draft, under EAGLE: the target stands for both.
    """
    arguments = parse_argv(server_argv(profile, python=("python",), port=0))
    algorithm = canonical(arguments.algorithm or "")
    draft = arguments.draft_model or (profile.model if algorithm == "EAGLE" else None)
    if algorithm in WITHOUT_DRAFT or draft is None:
        raise UsageError(
            f"profile {profile.name} drafts without a checkpoint",
            hint="Name a profile with a draft model, or TARGET and DRAFT.",
        )
    return CheckpointRequest(
        target=profile.model,
        draft=draft,
        algorithm=algorithm,
        tp_size=arguments.tp_size or 1,
        context_length=arguments.number("context-length", None),
        environment=server_environment(profile, host),
        draft_revision=arguments.text("speculative-draft-model-revision"),
        target_revision=arguments.text("revision"),
    )


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """What was found, and what it took."""

    host: str
    pairing: Pairing
    is_algorithm_asked: bool
    findings: tuple[Finding, ...]
    bytes_read: int
    """Of files, d2t left out."""

    table_bytes: int
    """Of d2t."""

    elapsed_s: float


async def check_checkpoint(
    connection: Connection, request: CheckpointRequest, clock: Clock | None = None
) -> CheckedDraft:
    """Read both directories and judge the draft; raises HostError and UsageError."""
    clock = clock or SystemClock()
    begun_s = clock.monotonic()
    reader = FileReader(connection)
    pairing = await _read_pair(connection, reader, request)
    vocabularies, transcript, build = await asyncio.gather(
        _compare(connection, pairing),
        _count(connection, pairing, request),
        find_models(connection, _architectures(pairing)),
    )
    pairing = replace(pairing, vocabularies=vocabularies, transcript=transcript, build=build)
    return CheckedDraft(
        host=connection.host.name,
        pairing=pairing,
        is_algorithm_asked=request.algorithm is not None,
        findings=judge(pairing),
        bytes_read=reader.bytes_read,
        table_bytes=reader.table_bytes,
        elapsed_s=clock.monotonic() - begun_s,
    )


def _architectures(pairing: Pairing) -> tuple[str, ...]:
    configs = (pairing.draft.config, pairing.target.config)
    return tuple(config.architecture for config in configs if config is not None)


async def _read_pair(
    connection: Connection, reader: FileReader, request: CheckpointRequest
) -> Pairing:
    variables = await read_variables(connection, request.environment)
    target = await read_checkpoint(
        reader, request.target, variables, revision=request.target_revision
    )
    draft = await read_checkpoint(reader, request.draft, variables, revision=request.draft_revision)
    is_target = target.path == draft.path
    algorithm = _algorithm(request, draft, is_target=is_target)
    by_layers = algorithm == "EAGLE" and kind_in(draft.config) in (Kind.MTP, Kind.WITH_MTP)
    draft = await (with_names if by_layers and is_target else with_tensors)(reader, draft)
    if kind_in(draft.config) is Kind.EAGLE3:
        target = await with_tokens(reader, target)
    other = None
    if request.other is not None:
        read = await read_checkpoint(reader, request.other, variables)
        other = await with_tensors(reader, read)
    return Pairing(
        target=target,
        draft=draft,
        algorithm=algorithm,
        other=other,
        tp_size=request.tp_size,
        context_length=request.context_length,
    )


def _algorithm(request: CheckpointRequest, draft: Checkpoint, *, is_target: bool) -> str:
    if request.algorithm is None:
        return algorithm_for(draft, is_target=is_target)
    name = canonical(request.algorithm)
    if name in WITHOUT_DRAFT:
        raise UsageError(
            f"{request.algorithm} drafts without a checkpoint",
            hint="Name the algorithm that the draft is for, or leave it out.",
        )
    return name


async def _compare(connection: Connection, pairing: Pairing) -> Vocabularies:
    """On the host itself, where the draft brings a vocabulary of its own."""
    target, draft = pairing.target, pairing.draft
    if target.path == draft.path or not _has_vocabulary(draft):
        return Vocabularies()
    request = {"target": target.path, "draft": draft.path}
    python = (connection.hello.executable,)
    return read_vocabularies(
        await _ask(connection, python, "vocabularies", request, VOCABULARIES_S)
    )


def _has_vocabulary(draft: Checkpoint) -> bool:
    return any(name.startswith(("tokenizer.", "tiktoken", "vocab.")) for name in draft.files)


async def _count(
    connection: Connection, pairing: Pairing, request: CheckpointRequest
) -> TokenCounts | None:
    """The transcript's ids, its texts tokenised by the host's own tokenizer."""
    transcript = request.transcript
    if transcript is None:
        return None
    if not transcript.texts:
        return TokenCounts(transcript.counts, f"ids of {request.transcript_name}")
    texts = bounded(transcript.texts, MOST_TEXT_BYTES)
    python = (connection.host.python or connection.hello.executable,)
    asked = {"directory": pairing.target.path, "texts": texts}
    answer = await _ask(connection, python, "count_tokens", asked, COUNT_S)
    if isinstance(answer, Missing):
        return TokenCounts(how=f"its texts could not be tokenised: {answer.detail}")
    counts, library = read_counts(answer)
    both = {**transcript.counts}
    for token, times in counts.items():
        both[token] = both.get(token, 0) + times
    part = "" if len(texts) == len(transcript.texts) else f", the first {len(texts)} texts"
    return TokenCounts(both, f"{request.transcript_name} by the host's {library}{part}")


def bounded(texts: tuple[str, ...], most_bytes: int) -> list[str]:
    """As many of the first texts as fit."""
    kept: list[str] = []
    for text in texts:
        most_bytes -= len(text.encode("utf-8", "replace"))
        if most_bytes < 0:
            break
        kept.append(text)
    return kept


async def _ask(
    connection: Connection,
    python: tuple[str, ...],
    name: str,
    request: dict[str, Any],
    timeout_s: float,
) -> dict[str, Any] | Missing:
    """A one-shot's answer; what it could not do is no failure of the whole check."""
    try:
        return await run_oneshot(connection.session, python, name, request, timeout_s=timeout_s)
    except (RemoteFailedError, DeadlineError) as error:
        return Missing(Why.ERROR, error.message)
    except HostError as error:
        if connection.session.is_closed:
            raise
        return Missing(Why.ERROR, error.message)
