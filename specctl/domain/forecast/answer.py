"""What a forecast says, as it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.forecast.corpora import CorpusRow
    from specctl.domain.ngram.settings import NgramSettings


@dataclass(frozen=True, slots=True)
class Estimate:
    """What transcripts come to."""

    transcripts: int
    tokens: int
    """Emitted by verify steps: outputs without the token that each prefill gives."""

    steps: int
    accept_length: float | None
    """Tokens per verify step; None without a step."""

    histogram: tuple[int, ...]
    """[k] = verify steps that accepted exactly k drafts."""

    marginal_acceptance: tuple[float, ...]
    conditional_acceptance: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class CategoryEstimate:
    """One category of the transcripts."""

    category: str
    cold: Estimate
    warm: Estimate | None
    """Of its held-out transcripts; None where there is no other half to learn from."""


@dataclass(frozen=True, slots=True)
class SettingRow:
    """The setting asked about, with one parameter changed."""

    change: str
    """Empty for the setting itself."""

    accept_length: float | None
    draft_tokens: int
    break_even: float | None
    """None where the cost of so wide a step is not known."""

    predicted_speedup: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What is said before anything is launched."""

    settings: NgramSettings
    version: str
    is_version_assumed: bool
    is_one_step_stale: bool
    concurrency: int
    cold: Estimate
    """Everything, from an empty trie."""

    held_out: Estimate | None
    """The half that is not learnt from, cold: what `warm` is to be read against."""

    warm: Estimate | None
    """The same half after the other was served; None under two transcripts that differ."""

    trained_on: int
    """Transcripts of that other half."""

    categories: tuple[CategoryEstimate, ...]
    other_settings: tuple[SettingRow, ...]
    other_settings_tokens: int
    """Tokens that the other settings were replayed on."""

    suggested: str
    """What to change; empty: nothing."""

    corpora: tuple[CorpusRow, ...]
    corpus_budget: int
    """Draft tokens given to a corpus in `corpora`."""

    trie_nodes: int
    """In use at the end."""

    trie_bytes: int
    """Taken at the start in every rank, whatever is in use."""

    base_ms: float | None
    step_ms: float | None
    break_even: float | None
    predicted_speedup: float | None
    """Cold; None without costs."""

    predicted_speedup_warm: float | None
    is_worth_trying: bool | None
    """Warm or cold; None without costs, and of random tokens."""

    most_step_ms: float | None
    """What a step may cost to pay for itself; None without the cost of a plain step."""

    cost_source: str | None
    looping: int
    """Answers that end in a loop; they are left out."""

    is_random: bool
    """The transcripts look like random token ids."""

    notes: tuple[str, ...]
