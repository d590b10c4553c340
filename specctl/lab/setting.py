"""How a stand-in server was set up, after its arguments were resolved."""

from __future__ import annotations

from dataclasses import dataclass, field

from specctl.domain.ngram.settings import NgramSettings


@dataclass(frozen=True, slots=True)
class Setting:
    """Resolved arguments that the engine heeds; `algorithm` None does not speculate."""

    algorithm: str | None = None
    num_steps: int = 0
    eagle_topk: int = 1
    num_draft_tokens: int = 0
    """Tokens verified per request and step, the last accepted one included."""

    ngram: NgramSettings = field(default_factory=NgramSettings)
    learns_at_once: bool = False
    """Up to 0.5.13 the next step drafts from what this one accepted; later ones lag behind."""

    corpus_max_tokens: int = 10_000_000
    max_running_requests: int = 48
    max_total_tokens: int = 400_000
    """KV slots."""

    chunked_prefill_size: int = 8192
    max_prefill_tokens: int = 16384
    context_length: int = 131_072
    caches_prefixes: bool = True
    simulated_accept_length: float | None = None
    """SGLANG_SIMULATE_ACC_LEN: forces the accept length, bonus included; the text is garbage."""
