"""The operator's secrets: names mapped to where the values lie, never the values themselves."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specctl.adapters import paths
from specctl.adapters.files import read_toml
from specctl.domain.errors import InvalidFileError, UsageError
from specctl.domain.nearest import nearest
from specctl.domain.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.adapters.files import TomlFile

KINDS = ("env", "file", "host_file")
MASK = "••••"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """A secret's value, or the file on the host that holds it; shown masked everywhere."""

    __slots__ = ("_value", "host_file", "name")

    def __init__(
        self, name: str, *, value: str | None = None, host_file: str | None = None
    ) -> None:
        self.name, self._value, self.host_file = name, value, host_file

    def reveal(self) -> str | None:
        """The value itself, for the one place that sends it; None when the host holds it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.name}={MASK})"

    __str__ = __repr__

    def __reduce__(self) -> Any:
        msg = "a secret is not pickled"
        raise TypeError(msg)


@dataclass(frozen=True, slots=True)
class Secrets:
    """The names known to the operator's file, each with the kind and place of its value."""

    file: str
    places: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def load(cls, path: Path | None = None) -> Secrets:
        """Read the operator's file; no file is no names."""
        path = path or paths.secrets_file()
        shown = paths.short(path)
        if not path.exists():
            return cls(shown)
        _require_private(path, shown)
        toml = read_toml(path, shown)
        places, problems = _places(toml)
        if problems:
            raise InvalidFileError(tuple(problems), hint='write  NAME = { env = "VARIABLE" }')
        return cls(shown, places)

    def describe(self, name: str) -> str:
        """Where a secret comes from, in words; names it unknown rather than failing."""
        if name not in self.places:
            return f"not in {self.file}"
        kind, place = self.places[name]
        words = {"env": "variable", "file": "file", "host_file": "the host's file"}
        return f"{words[kind]} {place}"

    def resolve(self, name: str) -> Secret:
        """The secret called `name`, its value read now."""
        if name not in self.places:
            close = nearest(name, self.places)
            hint = f'add  {name} = {{ env = "VARIABLE" }}  to {self.file}'
            also = f"; it knows {close}" if close else ""
            raise UsageError(f"no secret called {name} in {self.file}{also}", hint=hint)
        kind, place = self.places[name]
        if kind == "host_file":
            return Secret(name, host_file=place)
        return Secret(name, value=_from_env(name, place) if kind == "env" else _from_file(place))


def _from_env(name: str, variable: str) -> str:
    value = os.environ.get(variable, "")
    if not value:
        raise UsageError(f"secret {name}: {variable} is not set", hint=f"export {variable}=…")
    return value


def _from_file(place: str) -> str:
    path = Path(place).expanduser()
    try:
        _require_private(path, place)
        value = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{place} cannot be read: {reason}", hint="check the path") from error
    if not value:
        raise UsageError(f"{place} is empty", hint="put the secret's value into it")
    return value


def _require_private(path: Path, shown: str) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & _OTHERS:
        raise UsageError(
            f"{shown} can be read by others (mode {mode:04o})", hint=f"chmod 600 {shown}"
        )


def _places(toml: TomlFile) -> tuple[dict[str, tuple[str, str]], list[Problem]]:
    if toml.problem is not None:
        return {}, [toml.problem]
    places: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    for name, value in toml.values.items():
        found = _place(value)
        if found is None or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
            message = f"must be a table with one of {', '.join(KINDS)}"
            problems.append(Problem(toml.file, toml.line((name,)), name, message))
        else:
            places[name] = found
    return places, problems


def _place(value: Any) -> tuple[str, str] | None:
    if not isinstance(value, dict) or len(value) != 1:
        return None
    kind, place = next(iter(value.items()))
    return (kind, place) if kind in KINDS and isinstance(place, str) and place else None
