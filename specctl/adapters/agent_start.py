"""The agent's first words, and why a host did not say them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.domain.errors import AgentError
from specctl.domain.text import clean, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROTOCOL = 1
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, slots=True)
class Hello:
    """What an agent says of itself and its host."""

    python: str
    """The version of the interpreter it runs on, e.g. `3.11.7`."""

    executable: str
    pid: int
    uid: int
    user: str | None
    hostname: str
    boot_id: str | None
    pid_namespace: str | None
    time_s: float
    """The host's clock when it said so, Unix seconds."""

    has_psutil: bool
    has_pynvml: bool
    has_httpx: bool


def read_hello(host: str, raw: bytes) -> Hello:
    """The hello message; raises AgentError when it is not one this version speaks."""
    try:
        said: Mapping[str, Any] = json.loads(raw)
        if said["protocol"] != PROTOCOL:
            raise AgentError(f"host {host}: the agent speaks protocol {said['protocol']!r}")
        return Hello(
            python=clean(str(said["python"])),
            executable=clean(str(said["executable"])),
            pid=int(said["pid"]),
            uid=int(said["uid"]),
            user=_optional(said.get("user")),
            hostname=clean(str(said["hostname"])),
            boot_id=_optional(said.get("boot_id")),
            pid_namespace=_optional(said.get("pid_namespace")),
            time_s=float(said["time"]),
            has_psutil=bool(said.get("has_psutil")),
            has_pynvml=bool(said.get("has_pynvml")),
            has_httpx=bool(said.get("has_httpx")),
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise AgentError(f"host {host}: the agent's first message is damaged: {error}") from error


def _optional(value: object) -> str | None:
    return None if value is None else clean(str(value))


@dataclass(frozen=True, slots=True)
class FailedStart:
    """An agent or one-shot that ended, or stayed silent, before it said anything."""

    host: str
    python: Sequence[str]
    exit_status: int | None
    """None when it still ran."""

    stderr: str
    preamble: str
    """What was printed before the marker: greetings, or a shell's complaints."""

    def error(self) -> AgentError:
        """One sentence and what to do about it."""
        name = " ".join(self.python)
        words = f"host {self.host}: the agent did not start with `{name}`"
        why, hint = self._reason(name)
        return AgentError(f"{words}: {why}", hint=hint)

    def _reason(self, name: str) -> tuple[str, str]:
        choose = f'Put `python = "/path/to/python3"` into the file of host {self.host}.'
        said = self._said()
        if "No module named" in self.stderr or "zlib" in self.stderr:
            return f"this Python lacks a standard module: {said}", choose
        if "Unknown option: -I" in self.stderr or "SyntaxError" in self.stderr:
            return "it is too old; 3.8 or later is needed", choose
        if self.exit_status == _NOT_FOUND:
            return "there is no such command for a non-interactive shell", choose
        if self.exit_status == _NOT_EXECUTABLE:
            return f"it may not be executed (permissions, or a noexec mount): {said}", choose
        if self.exit_status is None:
            return f"it stays silent; so far it said: {said}", (
                "A shell startup file on the host may wait, or read its stdin."
            )
        return f"it ended with status {self.exit_status} and said: {said}", (
            f"Try `{name} -I -c 'print(1)'` on the host."
        )

    def _said(self) -> str:
        text = self.stderr.strip() or self.preamble.strip()
        lines = [line for line in text.splitlines() if line.strip()]
        return shorten(clean(lines[-1]), 200) if lines else "nothing"
