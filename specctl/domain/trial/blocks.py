"""What is measured in one launch of one arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.trial.order import Side


@dataclass(frozen=True, slots=True)
class Answer:
    """One prompt answered in one launch, by the server's own counts."""

    total_s: float
    """Of the whole request."""

    tokens: int
    """Decoded: output tokens without the one that the prefill gives; at least 1."""

    first_s: float | None = None
    """To the first token; None where the build does not tell it apart."""

    @property
    def decode_s(self) -> float | None:
        """After the first token."""
        return None if self.first_s is None else self.total_s - self.first_s


@dataclass(frozen=True, slots=True)
class Block:
    """The answers of one launch at one concurrency."""

    side: Side
    middle_s: float
    """Clock time at the middle of the block, which drift is measured against."""

    answers: Mapping[str, Answer]
    """By prompt; a prompt that failed is not in it."""

    disturbed: str = ""
    """Why it is left out of the clean analysis although the arm itself caused it; else empty."""
