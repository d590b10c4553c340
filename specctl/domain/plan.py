"""What would be done to a host, shown before any of it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.launch_record import LoadTimes
    from specctl.domain.profile import Profile
    from specctl.domain.server import Identity, Server

MASK = "••••"
PlanKind = Literal["start", "replace", "stop", "adopt"]


class Level(StrEnum):
    """How a check came out."""

    PASS = "pass"  # noqa: S105
    WARN = "warn"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at before."""

    name: str
    level: Level
    words: str
    next_step: str = ""
    """What to do about it; empty when it passed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a plan; doing it again changes nothing."""

    key: str
    words: str
    how: str = ""
    is_destructive: bool = False
    expected_s: float | None = None
    """None when there is nothing to expect it from."""


@dataclass(frozen=True, slots=True)
class SecretUse:
    """A secret and where it would go."""

    name: str
    destination: str
    """`env:HF_TOKEN` or `argument:api-key`."""

    words: str
    """`environment on stdin`, `a --config file of mode 0600, removed once read`."""

    @property
    def is_argument(self) -> bool:
        """It would be a server argument, so it goes into a file instead."""
        return self.destination.startswith("argument:")

    @property
    def target(self) -> str:
        """The variable or the argument: `HF_TOKEN`, `api-key`."""
        return self.destination.partition(":")[2]


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that carrying it out needs, and everything a person wants to know before."""

    id: str
    """Of a start also the launch id."""

    host: str
    kind: PlanKind
    profile: str | None
    steps: tuple[Step, ...]
    """Empty when what is asked for is so already."""

    checks: tuple[Check, ...]
    argv: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """What is added to the login environment, secrets masked."""

    secrets: tuple[SecretUse, ...] = ()
    ports: tuple[int, ...] = ()
    """The port it serves on first, then those SGLang derives from it."""

    gpus: tuple[int, ...] | None = None
    """The GPUs it is about; None when they cannot be known, empty for a server on the CPU."""

    stops: tuple[Server, ...] = ()
    target: Server | None = None
    """Of a stop or an adoption; or the server that is already what a start asks for."""

    expected_s: float | None = None
    expected_from: str = ""
    """`3 earlier loads here`; empty when nothing is expected."""

    expected_missing: str = ""
    """Why a start does not say how long it takes; empty when it does."""

    needs_typed: str | None = None
    """What a person has to type to allow it: the pid of a foreign server, or the host's name."""

    why_typed: str = ""
    default_is_safe: bool = True
    """Nothing is stopped, so the action itself may be the default."""

    now: bool = False
    """Requests are ended, not waited for."""

    recipe: Profile | None = None
    """What a start launches, placement resolved."""

    version: str | None = None
    """Of the SGLang that would run; None when it does not say."""

    profile_hash: str = ""
    """Of the complete recipe, kept in the launch record."""

    times: LoadTimes | None = None
    """Of earlier loads of the same profile here."""

    state_dir: str | None = None
    uses_user_scope: bool = False
    """The launch is moved out of the session that systemd ends at logout."""

    identity: Identity | None = None
    """Of the process that is stopped or adopted, as it was when the plan was made."""

    @property
    def refusals(self) -> tuple[Check, ...]:
        """Why it would not be carried out."""
        return tuple(check for check in self.checks if check.level is Level.REFUSE)

    @property
    def warnings(self) -> tuple[Check, ...]:
        """What a person should know before allowing it."""
        return tuple(check for check in self.checks if check.level is Level.WARN)

    @property
    def is_refused(self) -> bool:
        """At least one check refuses it."""
        return bool(self.refusals)

    @property
    def launch_argv(self) -> tuple[str, ...]:
        """The command line without the `--config FILE` that the launcher adds."""
        has_keys = any(use.is_argument for use in self.secrets)
        return self.argv[:-2] if has_keys else self.argv

    @property
    def lock_keys(self) -> tuple[str, ...]:
        """The locks held while it is carried out: one per GPU and per port."""
        gpus = {f"gpu-{gpu}" for gpu in self.gpus or ()}
        ports = {f"port-{port}" for port in self.ports}
        for server in self.stops:
            gpus |= {f"gpu-{gpu}" for gpu in server.gpus or ()}
            ports |= {f"port-{server.port}"} if server.port is not None else set()
        return tuple(sorted(gpus | ports)) or ("host",)


def all_words(checks: Sequence[Check]) -> str:
    """What several checks found, in one line."""
    words = list(dict.fromkeys(check.words for check in checks))
    return "; ".join([*(one.removesuffix(".") for one in words[:-1]), *words[-1:]])


def all_next_steps(checks: Sequence[Check]) -> str:
    """What to do about each of several checks, in one line; the same advice once."""
    steps = [step for step in dict.fromkeys(check.next_step for check in checks) if step]
    ended = [step if step.endswith((".", "?", "!")) else f"{step};" for step in steps[:-1]]
    return " ".join([*ended, *steps[-1:]])


def passed(name: str, words: str) -> Check:
    """A check without a finding."""
    return Check(name, Level.PASS, words)


def warned(name: str, words: str, next_step: str) -> Check:
    """A check that leaves the decision to a person."""
    return Check(name, Level.WARN, words, next_step)


def refused(name: str, words: str, next_step: str) -> Check:
    """A check that the plan does not get past."""
    return Check(name, Level.REFUSE, words, next_step)
