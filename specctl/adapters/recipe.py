"""A profile laid out for a reader: every value with its origin, and the command line it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specctl.adapters.secrets import Secrets
from specctl.adapters.toml_writing import value_text
from specctl.domain.command import (
    DEFAULT_PORT,
    server_argv,
    server_secrets,
    shell_lines,
)
from specctl.domain.profile import SECRET_PREFIX
from specctl.domain.start_plan import start_environment
from specctl.facts.redact import (
    MASK,
    is_secret_key,
    redact_argv,
    redact_environment,
    redact_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specctl.adapters.workspace import Workspace
    from specctl.domain.profile import Profile

DEFAULT_PYTHON = "python3"


@dataclass(frozen=True, slots=True)
class Row:
    """One value of a recipe."""

    key: str
    value: Any
    origin: str | None
    """`profiles/kimi-eagle3.toml:12`; None for a default."""

    @property
    def text(self) -> str:
        """The value as TOML writes it."""
        return value_text(self.value)


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a profile comes to, on one host or on none in particular."""

    profile: str
    host: str | None
    description: str
    rows: tuple[Row, ...]
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    secrets: Mapping[str, str]
    """Destination to where its value comes from, in words."""

    command: str
    """For a POSIX shell; secrets are not in it, and one that is spelled out is masked."""


def recipe(workspace: Workspace, name: str, on: str | None) -> Recipe:
    """The recipe of a profile, as it is on the host `on`."""
    host = workspace.host(on) if on else None
    profile = workspace.profile(name, host)
    python = (*host.enter, host.python or DEFAULT_PYTHON) if host else (DEFAULT_PYTHON,)
    port = profile.placement.port or DEFAULT_PORT
    argv = redact_argv(server_argv(profile, python=python, port=port))
    environment = redact_environment(start_environment(profile, host))
    return Recipe(
        profile=profile.name,
        host=host.name if host else None,
        description=profile.description,
        rows=tuple(_rows(profile, port)),
        argv=argv,
        environment=environment,
        secrets=_described(server_secrets(profile, host)),
        command=shell_lines(argv, environment),
    )


def _described(secrets: Mapping[str, str]) -> dict[str, str]:
    if not secrets:
        return {}
    known = Secrets.load()
    return {
        destination: f"secret {name} ({known.describe(name)})"
        for destination, name in secrets.items()
    }


def _rows(profile: Profile, port: int) -> Iterator[Row]:
    for key, value in _values(profile, port):
        origin = profile.origin(key)
        yield Row(key, _shown(key, value), str(origin) if origin else None)


def _shown(key: str, value: Any) -> Any:
    """A value, masked when it is a secret that is spelled out; one that is named stays."""
    if not isinstance(value, str) or value.startswith(SECRET_PREFIX):
        return value
    return MASK if is_secret_key(key.rpartition(".")[2]) else redact_text(value)


def _values(profile: Profile, port: int) -> Iterator[tuple[str, Any]]:
    yield "model", profile.model
    yield from _table("arguments", {**profile.arguments, **_named(profile, "argument")})
    if profile.speculation is not None:
        yield "speculation.algorithm", profile.speculation.algorithm
        yield from _table("speculation", profile.speculation.arguments)
    yield from _table("env", {**profile.environment, **_named(profile, "env")})
    if profile.placement.gpus is not None:
        yield "placement.gpus", list(profile.placement.gpus)
    yield "placement.port", port
    yield "ready_timeout_s", _short(profile.ready_timeout_s)
    if profile.baseline is not None:
        yield "baseline", profile.baseline
    for key in ("accept_length", "speedup"):
        if (expected := getattr(profile.expectation, key)) is not None:
            yield f"expectation.{key}", expected
    if profile.corpora:
        yield "corpora", [{"name": c.name, "path": c.path} for c in profile.corpora]


def _short(number: float) -> float | int:
    return int(number) if number.is_integer() else number


def _table(name: str, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        yield f"{name}.{key}", value


def _named(profile: Profile, kind: str) -> dict[str, str]:
    mark = f"{kind}:"
    return {
        destination.removeprefix(mark): f"{SECRET_PREFIX}{name}"
        for destination, name in profile.secrets.items()
        if destination.startswith(mark)
    }
