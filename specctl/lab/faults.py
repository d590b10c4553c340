"""What can be wrong on a lab host: every fault by name, in words, with who acts it out and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Actor = Literal["host", "server"]
"""`host`: the lab's ssh server and what it lays out; `server`: the stand-in SGLang."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way for a host or its server to misbehave."""

    words: str
    actor: Actor
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Name to default; the type of the default is the type of the parameter."""


FAULTS: Mapping[str, Fault] = {
    "noisy-rc": Fault("the login shell's startup files print, and change directory", "host"),
    "fish-shell": Fault("the login shell is fish", "host"),
    "csh-shell": Fault("the login shell is csh", "host"),
    "no-python": Fault("no Python is on the PATH", "host"),
    "read-only-home": Fault("the home directory cannot be written to", "host"),
    "full-disk": Fault("nothing can be written to the home, /tmp and /var/tmp: no space", "host"),
    "clock-skew": Fault("the wall clock is wrong", "host", {"seconds": 3600.0}),
    "slow-link": Fault(
        "the connection is slow, both ways", "host", {"delay_ms": 150.0, "kib_per_s": 256.0}
    ),
    "cut-link": Fault(
        "connections break, or go silent where `silent` is true, and new ones too",
        "host",
        {"silent": False},
    ),
    "frozen-agent": Fault("specctl's agent is stopped (SIGSTOP)", "host"),
    "two-operators": Fault(
        "somebody else holds the lock of GPUs and port",
        "host",
        {"operator": "robin@desk", "gpus": "all", "port": 30000},
    ),
    "kill-on-logout": Fault(
        "what a connection started is killed some time after it has ended",
        "host",
        {"after_s": 1.0},
    ),
    "slow-weights": Fault("loading the weights takes long", "server", {"seconds": 60.0}),
    "crash-at-capture": Fault(
        "the server ends while it captures CUDA graphs; `how` is oom, exit-0 or exit-137",
        "server",
        {"how": "oom"},
    ),
    "hang-at-warmup": Fault("the warm-up request is never answered", "server"),
    "port-clash": Fault("the port is taken, and the server does not exit", "server"),
    "ignores-sigterm": Fault("SIGTERM has no effect", "server"),
    "drains-for-ever": Fault("SIGTERM is heeded, running requests never finish", "server"),
    "orphan-scheduler": Fault("a scheduler outlives the server's main process", "server"),
    "renamed-process": Fault("the processes' titles do not mention SGLang", "server"),
    "stale-metrics": Fault("/metrics keeps its values while requests run", "server"),
    "unauthorized": Fault("every request is answered 401", "server"),
    "keys-in-server-info": Fault("/server_info contains the API keys", "server"),
    "accept-length-one": Fault(
        "the draft model is not wired: accept length is 1.00; n-grams have none, and go on as ever",
        "server",
    ),
    "garbage-output": Fault("the model repeats itself without end", "server"),
    "hostile-log": Fault(
        "the log has progress bars, escape codes, lines of a megabyte and bad UTF-8", "server"
    ),
    "log-rotated": Fault("the log file is replaced while it is read", "server"),
}


SIGNED = frozenset({"clock-skew:seconds"})
ABOVE_0 = frozenset({"slow-link:kib_per_s", "two-operators:port"})
"""Parameters by what they may be; all others are 0 or more."""


def find_fault(name: str) -> Fault:
    """The fault called `name`; raises UsageError with the nearest one."""
    if name in FAULTS:
        return FAULTS[name]
    close = nearest(name, FAULTS)
    hint = f"nearest: {close}" if close else "specctl lab faults lists them"
    raise UsageError(f"no fault called {name}", hint=hint)


def parse_fault(text: str) -> tuple[str, dict[str, Any]]:
    """`NAME` or `NAME:key=value,…` as a name and all its parameters, defaults filled in."""
    name, _, rest = text.partition(":")
    return name, read_parameters(name, [pair for pair in rest.split(",") if pair])


def read_parameters(name: str, pairs: Sequence[str]) -> dict[str, Any]:
    """`key=value` texts as the fault's parameters, defaults filled in."""
    defaults = find_fault(name).parameters
    found = dict(defaults)
    for pair in pairs:
        key, _, value = pair.partition("=")
        if key not in defaults:
            known = ", ".join(defaults) or "none"
            raise UsageError(f"fault {name} has no parameter {key!r}", hint=f"it has: {known}")
        found[key] = _converted(f"{name}:{key}", value, defaults[key])
    return found


def _converted(place: str, value: str, default: Any) -> Any:
    if isinstance(default, bool):
        if value.lower() in {"true", "false"}:
            return value.lower() == "true"
        raise UsageError(f"{place} is true or false, not {value!r}")
    try:
        found = type(default)(value)
    except ValueError:
        raise UsageError(f"{place} is a number, not {value!r}") from None
    if isinstance(found, float | int) and not _is_possible(place, found):
        least = "above 0" if place in ABOVE_0 else "0 or more"
        raise UsageError(f"{place} is {least}, not {value}")
    return found


def _is_possible(place: str, number: float) -> bool:
    if not isfinite(number):
        return False
    return place in SIGNED or number > 0 or (number == 0 and place not in ABOVE_0)
