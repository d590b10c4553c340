"""What is asked of the engine, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Request:
    """One prompt; `tokens` are its ids."""

    rid: str
    tokens: tuple[int, ...]
    max_new_tokens: int
    temperature: float = 0.0
    seed: int | None = None
    """Sampling's seed; without one a sampled answer differs from request to request."""

    stop_token_ids: frozenset[int] = frozenset()
    stop: tuple[str, ...] = ()
    ignore_eos: bool = False


class FinishKind(StrEnum):
    """The words of `finish_reason.type`."""

    STOP = "stop"
    LENGTH = "length"
    ABORT = "abort"


@dataclass(frozen=True, slots=True)
class Finish:
    """Why a request ended: `matched` is the stop token or string, `length` the limit reached."""

    kind: FinishKind
    matched: int | str | None = None
    length: int | None = None
    message: str = ""


@dataclass(slots=True)
class Account:
    """The counters of one request, as SGLang keeps them; times are the engine's seconds."""

    prompt_tokens: int
    submitted_s: float
    cached_tokens: int = 0
    completion_tokens: int = 0
    verify_steps: int = 0
    correct_drafts: int = 0
    proposed_drafts: int = 0
    """verify_steps × (num_draft_tokens − 1), padding included."""

    histogram: list[int] = field(default_factory=list)
    """[k]: verify steps that accepted exactly k drafts; no longer than the most accepted."""

    retractions: int = 0
    started_s: float | None = None
    first_token_s: float | None = None
    finished_s: float | None = None
