"""How carrying out a plan ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.proof import Proof
    from specctl.domain.server import Milestone
    from specctl.facts.diagnosis import Cause


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a plan, in words a person reads and in values a program reads."""

    plan_id: str
    host: str
    succeeded: bool
    words: str
    """`Ready in 5:32 on port 30000.`, `Gone: 11 of 11 processes, 3 of 3 ports, in 4.2 s.`"""

    hint: str = ""
    server: str | None = None
    """The name of the server it was about."""

    proofs: tuple[Proof, ...] = ()
    cause: Cause | None = None
    """Why a start failed."""

    exit_status: int | None = None
    log_path: str | None = None
    log_excerpt: tuple[str, ...] = ()
    reached: tuple[tuple[Milestone, float], ...] = ()
    """Milestones and seconds after the launch."""

    elapsed_s: float | None = None
    notes: tuple[str, ...] = ()


def minutes(seconds: float) -> str:
    """`0:07`, `5:32`, `1:02:07`."""
    whole = round(seconds)
    hours, rest = divmod(whole, 3600)
    minute, second = divmod(rest, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"
