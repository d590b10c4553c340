"""What specctl did on hosts, one entry a command or request; those that only read are grouped."""

from __future__ import annotations

import json
import shlex
from collections import deque
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MOST_CHANGES, MOST_READS = 2000, 2000
"""Entries kept in memory of each."""


class Way(StrEnum):
    """How a host was asked."""

    COMMAND = "command"
    """A process of its own there."""

    AGENT = "agent"
    """An op of the agent that runs there for as long as the connection lasts."""

    HTTP = "http"
    """A request to a server there."""


READING_PROGRAMS = frozenset(
    {"agent", "count_tokens", "locker", "render_chat", "tokenize_texts", "vocabularies"}
)
READING_ACTIONS = frozenset({("records", "read"), ("signaller", "look")})
CHANGING_OPS = frozenset({"probe"})
"""Ops of the agent that load a server; all others only look."""

CHANGING_PATHS = ("/flush_cache", "/clear_hicache_storage_backend")
SHOWN_KEYS = (
    "action", "launch_id", "argv", "keys", "path", "paths", "ports", "root", "pids", "names",
    "offset", "length", "patterns", "follow", "interval_s", "python", "gpus", "files",
)  # fmt: skip
"""Of what a program or an op is asked, what may be shown; anything else may hold a secret."""


@dataclass(frozen=True, slots=True)
class RemoteCommand:
    """One thing done on a host, or the same read done again and again."""

    time_s: float
    """When it began, the last time, Unix seconds."""

    host: str
    way: Way
    what: str
    """In a word or two: `launcher`, `stat`, `GET /metrics`."""

    argv: tuple[str, ...] = ()
    """Exactly as it was run, secrets masked; empty for what is no process."""

    asked: Mapping[str, Any] = field(default_factory=dict)
    """What its program, op or server was asked for, as far as that may be shown."""

    outcome: str = ""
    """`ok`, `exit 1`, `200`, or why it failed."""

    is_failure: bool = False
    changes: bool = False
    """It changes something there, or may."""

    elapsed_s: float | None = None
    """None for what goes on until the connection ends."""

    times: int = 1
    """How often, for a read that is done again and again."""

    simulated: bool = False

    @property
    def line(self) -> str:
        """As it could be typed there; of a request to the agent its name and what it was asked."""
        asked = json.dumps(dict(self.asked), ensure_ascii=False) if self.asked else ""
        words = shlex.join(self.argv) if self.argv else self.what
        return f"{words}  # {asked}" if asked and self.argv else f"{words} {asked}".strip()

    @property
    def brief(self) -> str:
        """The part of it that says what it was about."""
        if self.way is Way.COMMAND and isinstance(self.asked.get("argv"), tuple | list):
            return shlex.join(map(str, self.asked["argv"]))
        if self.asked:
            return " ".join(f"{key}={_short(value)}" for key, value in self.asked.items())
        return shlex.join(self.argv) if self.way is Way.COMMAND else ""


def _short(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    return str(value)


def program_changes(name: str, asked: Mapping[str, Any]) -> bool:
    """A one-shot program changes something, unless it is known only to look."""
    return name not in READING_PROGRAMS and (name, asked.get("action")) not in READING_ACTIONS


def request_changes(method: str, path: str) -> bool:
    """An HTTP request changes something: every POST may, and some paths whatever the method."""
    return method not in {"GET", "HEAD"} or path.startswith(CHANGING_PATHS)


class CommandHistory:
    """What was done, bounded: every change by itself, reads of one kind together."""

    def __init__(self) -> None:
        self._changes: deque[RemoteCommand] = deque(maxlen=MOST_CHANGES)
        self._reads: dict[tuple[str, Way, str], RemoteCommand] = {}

    def add(self, command: RemoteCommand) -> bool:
        """Take one in; whether it is worth a line of its own in a file."""
        if command.changes:
            self._changes.append(command)
            return True
        key = (command.host, command.way, command.what)
        before = self._reads.pop(key, None)
        if before is not None:
            command = replace(command, times=before.times + 1)
        elif len(self._reads) >= MOST_READS:
            del self._reads[next(iter(self._reads))]
        self._reads[key] = command
        return before is None or before.outcome != command.outcome

    def all(self) -> tuple[RemoteCommand, ...]:
        """Everything kept, the oldest first."""
        return in_order((*self._changes, *self._reads.values()))


def in_order(commands: Iterable[RemoteCommand]) -> tuple[RemoteCommand, ...]:
    """By time."""
    return tuple(sorted(commands, key=lambda command: command.time_s))


@dataclass(frozen=True, slots=True)
class CommandList:
    """What `specctl commands --json` prints."""

    commands: tuple[RemoteCommand, ...]
    file: str
    """Where it is kept."""
