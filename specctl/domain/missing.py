"""Why a value could not be known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Why(StrEnum):
    """The kinds of not knowing."""

    NOT_SUPPORTED = "not supported"
    """The device or the version has no such thing."""

    NO_PERMISSION = "no permission"
    LOST = "lost"
    """The GPU fell off the bus."""

    ERROR = "error"
    """Asked for, and answered with an error; see the detail."""

    NOT_INSTALLED = "not installed"
    UNREACHABLE = "unreachable"
    UNAUTHORIZED = "unauthorized"
    NOT_ENABLED = "not enabled"
    """The server was started without it, e.g. without --enable-metrics."""

    NO_WINDOW = "no completed window"
    """The server has not finished a reporting window since its start or last flush."""

    NOT_SPECULATING = "speculation off"
    STALE = "stale"
    MALFORMED = "malformed"
    TIMED_OUT = "timed out"
    OTHER_NAMESPACE = "other pid namespace"
    NO_BASELINE = "no baseline measured"
    NOT_YET = "not yet read"


@dataclass(frozen=True, slots=True)
class Missing:
    """The reason beside a `None`."""

    why: Why
    detail: str = ""

    def __str__(self) -> str:
        """`not supported` or `error: the detail`."""
        return f"{self.why}: {self.detail}" if self.detail else str(self.why)


Reasons = Mapping[str, Missing]
"""Field name to the reason for which that field is None."""

NOT_YET = Missing(Why.NOT_YET)
