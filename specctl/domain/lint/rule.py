"""A rule: what it looks at, for which versions it holds, and which line of the source says so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from specctl.domain.source import Place
from specctl.domain.text import clean
from specctl.domain.versions import Span

if TYPE_CHECKING:
    from specctl.domain.lint.case import Case
    from specctl.domain.lint.finding import Severity
    from specctl.domain.profile import Value

RESOLUTION = (
    "srt/arg_groups/speculative_hook.py",
    "srt/arg_groups/",
    "srt/server_args.py",
    "srt/speculative/",
)
"""Where arguments are resolved, in every era, the newest place first."""

_QUOTED_BREAK = r"(?:\s*\"\s*f?\"\s*| )"
"""Where a message may be broken over two string literals."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What to look for in a build's source."""

    pattern: str
    """A regular expression; a group called `at` is the line that is meant."""

    files: tuple[str, ...] = RESOLUTION
    """Beginnings of paths, in the order they are searched."""

    def is_at_hand(self, texts: Mapping[str, str]) -> bool:
        """At least one of the files it would be in is there."""
        return any(name.startswith(self.files) for name in texts)

    def find(self, texts: Mapping[str, str]) -> tuple[Place, str] | None:
        """The first line it matches, and the line's text; None where it is not found."""
        wanted = _compiled(self.pattern)
        for prefix in self.files:
            for name in sorted(name for name in texts if name.startswith(prefix)):
                text = texts[name]
                match = wanted.search(text)
                if match is not None:
                    start = match.start("at" if "at" in wanted.groupindex else 0)
                    return Place(name, text.count("\n", 0, start) + 1), _line(text, start)
        return None


_LINE_LENGTH = 400


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return clean(text[start : None if end < 0 else end][:_LINE_LENGTH]).strip()


def says(message: str, *files: str) -> Evidence:
    """A message of the source, wherever its string literals are broken."""
    words = [re.escape(word) for word in message.split(" ")]
    return Evidence(_QUOTED_BREAK.join(words), files or RESOLUTION)


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing a rule found."""

    flag: str
    """Without dashes, `env:NAME`, or a key of the profile such as `model`."""

    message: str
    fix: str = ""
    sets: Mapping[str, Value | None] = field(default_factory=dict)
    """Flag to the value that the server goes on with."""

    severity: Severity | None = None
    """Where it is another than the rule's: what is not known for sure is a warning."""

    item: int | None = None
    """Which value of a list."""

    nearest: str = ""
    source: Evidence | None = None
    """A line that says it more closely than the rule's, where the build has it."""

    place: Place | None = None
    """Where the tree itself says so, e.g. the declaration of a flag."""


Judge = Callable[["Case"], Iterable[Hit]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing a build does with its arguments."""

    id: str
    severity: Severity
    judge: Judge
    source: Evidence | None = None
    """None where the declaration of a flag, or the program's behaviour, is all there is."""

    span: Span = field(default_factory=Span)
    is_late: bool = False
    """The arguments are taken, and the server ends while it loads or at a request."""

    is_live: bool = False
    """Reachable with `--device cpu`: shown by the real resolution, not by a line alone."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A value the server works out without a word; later rules need it."""

    settle: Callable[[Case], None]
