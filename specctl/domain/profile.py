"""A profile: one named, complete recipe for a server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool | tuple["Value", ...] | Mapping[str, "Value"]
"""What a server argument may be; a mapping is passed as JSON."""

DEFAULT_READY_TIMEOUT_S = 1800.0
SECRET_PREFIX = "secret:"  # noqa: S105
"""A value `secret:NAME` stands for a secret of the operator's own file."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written."""

    file: str
    line: int | None

    def __str__(self) -> str:
        """`profiles/kimi-eagle3.toml:12`."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Speculation:
    """The draft part of a profile."""

    algorithm: str
    arguments: Mapping[str, Value] = field(default_factory=dict)
    """Spelled as SGLang spells them, without `--speculative-`: `num-steps`, `draft-model-path`."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where on a host a server goes."""

    gpus: tuple[int, ...] | None = None
    """As the driver numbers them; None means all GPUs of the host."""

    port: int | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a profile is expected to reach."""

    accept_length: float | None = None
    """Tokens emitted per verify step, bonus token included."""

    speedup: float | None = None
    """Against the profile that is its baseline."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """An n-gram corpus to load once the server is ready."""

    name: str
    path: str
    """A file on the host: one JSON string a line."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A recipe with everything it inherits filled in."""

    name: str
    """The stem of its file."""

    model: str
    description: str = ""
    arguments: Mapping[str, Value] = field(default_factory=dict)
    """Spelled as SGLang spells them, without the leading dashes."""

    speculation: Speculation | None = None
    """None makes it a baseline."""

    environment: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Destination, `env:HF_TOKEN` or `argument:api-key`, to the secret's name."""

    placement: Placement = field(default_factory=Placement)
    ready_timeout_s: float = DEFAULT_READY_TIMEOUT_S
    baseline: str | None = None
    """The profile it is compared with."""

    expectation: Expectation = field(default_factory=Expectation)
    corpora: tuple[Corpus, ...] = ()
    file: str = ""
    """As the user would type it, e.g. `profiles/kimi-eagle3.toml`."""

    origins: Mapping[str, Origin] = field(default_factory=dict)
    """Dotted key, e.g. `speculation.num-steps` or `corpora[0]`, to where its value was written."""

    def origin(self, key: str) -> Origin | None:
        """Where the value of `key` was written; None for a default."""
        return self.origins.get(key)
