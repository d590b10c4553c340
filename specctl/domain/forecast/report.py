"""A forecast with what it was made from: `specctl/forecast/1`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.forecast.answer import Forecast


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
