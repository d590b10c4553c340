"""The command log: what was done on hosts, in memory and in a file that is turned over."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import ConnectionLostError, DeadlineError, SpecctlError
from specctl.domain.plain import plain
from specctl.domain.remote_command import (
    CHANGING_OPS,
    SHOWN_KEYS,
    CommandHistory,
    RemoteCommand,
    Way,
    program_changes,
    request_changes,
)
from specctl.domain.text import clean, shorten
from specctl.domain.unplain import object_of
from specctl.facts.redact import redact_argv, redact_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from specctl.adapters.clock import Clock
    from specctl.domain.host import Host

FILE_BYTES_MAX = 4 << 20
"""Two such files are kept: the present one and the one before."""

TEXT_CELLS, MOST_ITEMS = 300, 64

_PROGRAM: ContextVar[tuple[str, Mapping[str, Any]] | None] = ContextVar("program", default=None)
"""The one-shot that the next command of this task carries in its stdin."""


@contextmanager
def naming(name: str, request: Mapping[str, Any]) -> Iterator[None]:
    """Commands in this block are the program `name`, asked for `request`."""
    token = _PROGRAM.set((name, request))
    try:
        yield
    finally:
        _PROGRAM.reset(token)


class CommandLog:
    """Takes in what is done; `file` is where it is kept, None for memory alone."""

    def __init__(self, clock: Clock, file: Path | None = None) -> None:
        self._clock, self._file = clock, file
        self._history = CommandHistory()
        self.trouble = ""
        """Why the file is not written; empty while it is."""

    def commands(self) -> tuple[RemoteCommand, ...]:
        """What was done in this run, the oldest first."""
        return self._history.all()

    def add(self, command: RemoteCommand) -> None:
        """Take one in."""
        if self._history.add(command) and self._file is not None:
            try:
                append(self._file, command)
                self.trouble = ""
            except OSError as error:
                self.trouble = f"{self._file}: {error.strerror}"

    def of(self, host: Host) -> HostLog:
        """The log as the connection of one host writes it."""
        return HostLog(self, self._clock, host.name, is_simulated=host.is_simulated)


@dataclass(frozen=True, slots=True)
class HostLog:
    """Notes what is done on one host, when it has ended."""

    log: CommandLog
    clock: Clock
    host: str
    is_simulated: bool = False

    @contextmanager
    def command(self, argv: Sequence[str]) -> Iterator[Callable[[str], None]]:
        """A process; the block says how it ended by calling what it is given."""
        name, request = _PROGRAM.get() or ("", {})
        asked = shown(request)
        changes = program_changes(name, request) if name else argv_changes(argv)
        what = name or argv[0].rpartition("/")[2] if argv else name
        with self._noted(Way.COMMAND, what, redact_argv(argv), asked, changes=changes) as end:
            yield end

    @contextmanager
    def op(self, name: str, params: Mapping[str, Any]) -> Iterator[Callable[[str], None]]:
        """An op of the agent."""
        changes = name in CHANGING_OPS
        with self._noted(Way.AGENT, name, (), shown(params), changes=changes) as end:
            yield end

    @contextmanager
    def request(self, method: str, url: str, path: str) -> Iterator[Callable[[str], None]]:
        """An HTTP request; its body and its headers are not kept."""
        changes = request_changes(method, path)
        what, asked = clean(f"{method} {path}"), {"url": clean(url)}
        with self._noted(Way.HTTP, what, (), asked, changes=changes) as end:
            yield end

    @contextmanager
    def _noted(
        self,
        way: Way,
        what: str,
        argv: tuple[str, ...],
        asked: Mapping[str, Any],
        *,
        changes: bool,
    ) -> Iterator[Callable[[str], None]]:
        began_s, since_s = self.clock.now(), self.clock.monotonic()
        ended: list[str] = []
        is_failure = False
        try:
            yield ended.append
        except BaseException as error:
            ended, is_failure = [failure_words(error)], True
            raise
        finally:
            outcome = ended[-1] if ended else "ok"
            bad = is_failure or outcome.startswith(("exit ", "4", "5"))
            self.log.add(
                RemoteCommand(
                    began_s,
                    self.host,
                    way,
                    what,
                    argv,
                    asked,
                    outcome,
                    is_failure=bad and outcome != "exit 0",
                    changes=changes,
                    elapsed_s=self.clock.monotonic() - since_s,
                    simulated=self.is_simulated,
                )
            )


def argv_changes(argv: Sequence[str]) -> bool:
    """A command line of its own: those that specctl runs by themselves only look."""
    return bool(argv) and argv[0].rpartition("/")[2] in {"kill", "rm", "mv", "systemctl"}


def failure_words(error: BaseException) -> str:
    """Why it did not end as it should, in a few words."""
    match error:
        case DeadlineError():
            return "no answer in time"
        case ConnectionLostError():
            return "connection lost"
        case SpecctlError():
            return shorten(clean(redact_text(error.message)), TEXT_CELLS)
        case Exception():
            return type(error).__name__
    return "cancelled"


def shown(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What may be shown of what was asked: known keys alone, secrets masked."""
    out: dict[str, Any] = {}
    for key in SHOWN_KEYS:
        value = asked.get(key)
        if key == "argv" and isinstance(value, list | tuple):
            out[key] = redact_argv([clean(str(word)) for word in value])
        elif isinstance(value, str):
            out[key] = shorten(clean(redact_text(value)), TEXT_CELLS)
        elif isinstance(value, bool | int | float):
            out[key] = value
        elif isinstance(value, list | tuple) and value:
            words = [shorten(clean(redact_text(str(one))), TEXT_CELLS) for one in value]
            out[key] = words[:MOST_ITEMS]
    return out


# ---------------------------------------------------------------------- the file


def append(file: Path, command: RemoteCommand) -> None:
    """One line more; a file that is long enough becomes the one before."""
    line = json.dumps(plain(command), ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_file() and file.stat().st_size + len(line) > FILE_BYTES_MAX:
        file.replace(before(file))
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def before(file: Path) -> Path:
    """The file before the present one."""
    return file.with_name(f"{file.name}.1")


def read_file(file: Path) -> tuple[RemoteCommand, ...]:
    """What is kept, the oldest first; lines that are none are left out."""
    out: list[RemoteCommand] = []
    for part in (before(file), file):
        try:
            lines = part.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        out += [found for line in lines if (found := _read(line)) is not None]
    return tuple(out)


def _read(line: bytes) -> RemoteCommand | None:
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        return object_of(RemoteCommand, value, {"Mapping": Mapping, "Any": Any})
    except (ValueError, RecursionError, TypeError):
        return None
