"""A forecast with what it was made from: `specctl/forecast/1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.forecast.answer import Forecast


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file of documents that was read."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ForecastReport:
    """A forecast of one profile from one file of transcripts."""

    host: str | None
    """Whose tokenizer and release were asked; None for nobody's."""

    profile: str
    transcripts: str
    """The file."""

    transcripts_sha256: str
    tokens: str
    """Where the token ids come from, in words."""

    tokenizer_sha256: str | None
    """None where the transcripts are ids."""

    template_sha256: str | None
    """None where no conversation was rendered."""

    forecast: Forecast
    notes: tuple[str, ...]
    """What was left out of the file, and what of the costs."""

    corpora: tuple[InputFile, ...] = ()
    """Files of an external corpus that was tried."""

    cost_hosts: tuple[str, ...] = ()
    """Where the step costs were measured; empty where they were typed, or are not known."""

    run: str | None = None
    """Under which the ledger keeps it; None where it is not kept."""
