"""SGLang's version texts, made comparable, and spans of them."""

from __future__ import annotations

import re
from dataclasses import dataclass

Version = tuple[int, ...]
"""`0.5.10.post1` is (0, 5, 10, 1); a release without a post part compares below its posts."""

_RELEASE = re.compile(r"v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?!\d)(?:\.post(\d{1,9}))?")


def read_version(text: str | None) -> Version | None:
    """The comparable form; None for a build that does not say (a nightly calls itself 0.0.0)."""
    match = _RELEASE.match(text.strip()) if text else None
    if match is None:
        return None
    numbers = tuple(int(part or 0) for part in match.groups())
    return numbers if any(numbers) else None


def is_at_least(text: str | None, release: str) -> bool | None:
    """Whether version `text` is `release` or newer; None when `text` does not say."""
    version, wanted = read_version(text), read_version(release)
    if version is None or wanted is None:
        return None
    return version >= wanted


@dataclass(frozen=True, slots=True)
class Span:
    """From one version to another, both included."""

    since: str = ""
    """Empty: from the first on."""

    until: str = ""
    """Empty: the newest still does it."""

    def holds(self, version: Version) -> bool:
        """The version is inside."""
        first, last = read_version(self.since), read_version(self.until)
        return (first is None or first <= version) and (last is None or version <= last)

    def __str__(self) -> str:
        """`0.5.13.post1 and later`."""
        if self.since and self.until:
            return self.since if self.since == self.until else f"{self.since} to {self.until}"
        if self.until:
            return f"up to {self.until}"
        return f"{self.since} and later" if self.since else "every version"
