"""What filters can ask of a host: its fields, and their values now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.alerts.judging import memory_percent
from specctl.domain.alerts.rules import Name, Severity
from specctl.domain.filter_terms import TEXT, Field, Filter, Value, Values, read_filter
from specctl.domain.freshness import SAMPLED_EVERY_S, is_stale
from specctl.domain.server import ServerState
from specctl.domain.state import HostState, Link

if TYPE_CHECKING:
    from specctl.domain.sample import GpuSample, ServerSample
    from specctl.domain.server import Server

STATES = tuple(dict.fromkeys((*(s.value for s in ServerState), *(link.value for link in Link))))

_FIELDS = (
    Field("host", "its name", aliases=("name",)),
    Field("state", "how it stands: its link, and the states of its servers", choices=STATES),
    Field("server.state", "state of a server", choices=tuple(s.value for s in ServerState)),
    Field("profile", "profile of a server", aliases=("server.profile",)),
    Field("model", "model of a server", aliases=("server.model",)),
    Field("algorithm", "speculative algorithm of a server, off without one",
          aliases=("server.algorithm", "draft")),
    Field("version", "SGLang of a server", aliases=("server.version", "sglang")),
    Field("owner", "user a server runs as", aliases=("server.owner",)),
    Field("server", "name of a server"),
    Field("servers", "how many servers", ""),
    Field("rate", "output tokens per second of a server", "tok/s",
          aliases=("tok/s", "toks", "tokens", "server.rate")),
    Field("accept", "accept length of a server", "", aliases=("server.accept", "accept_length")),
    Field("even", "break-even accept length of a server", "", aliases=("server.even", "breakeven")),
    Field("running", "requests running at a server", "", aliases=("server.running",)),
    Field("queue", "requests waiting at a server", "", aliases=("server.queue",)),
    Field("kv", "KV pool in use at a server", "%", aliases=("server.kv",)),
    Field("ttft", "time to first token of a server, median", "ms", aliases=("server.ttft",)),
    Field("gpu", "name of a GPU", aliases=("gpu.name",)),
    Field("gpus", "how many GPUs", "", aliases=("gpu.count",)),
    Field("gpu.util", "utilisation, of its GPUs the highest", "%", aliases=("util",)),
    Field("gpu.mem", "memory used, of its GPUs the highest share", "%",
          aliases=("gpu.memory", "mem")),
    Field("gpu.power", "power of its GPUs together", "W", aliases=("power",)),
    Field("gpu.temp", "temperature, of its GPUs the highest", "°C", aliases=("temp",)),
    Field("gpu.slowed", "what slows a GPU", aliases=("slowed", "throttle")),
    Field("cpu", "its processor", "%"),
    Field("age", "since it was last sampled", "s"),
    Field("label", "a label, by its value or as key=value", has_keys=True, aliases=("labels",)),
    Field("group", "the label group"),
    Field("alert", "an open alert: its rule or its severity", aliases=("alerts",),
          choices=(*(name.value for name in Name), *(s.value for s in Severity), "any")),
    Field("is", "read-only, simulated, ours, foreign, idle, stale",
          choices=("read-only", "simulated", "ours", "foreign", "idle", "stale")),
)  # fmt: skip
FIELDS: Mapping[str, Field] = {one.name: one for one in _FIELDS}


Found = Iterable[Value | None]


@dataclass(frozen=True, slots=True)
class Subject:
    """A host to be chosen or not."""

    name: str
    host: HostState
    now_s: float
    evens: Mapping[str, float] = field(default_factory=dict)
    """Break-evens by server."""

    interval_s: float = SAMPLED_EVERY_S
    """How often it is sampled."""

    @property
    def age_s(self) -> float | None:
        """Since it was last sampled."""
        at_s = self.host.sample_at_s
        return None if at_s is None else max(0.0, self.now_s - at_s)

    @property
    def is_stale(self) -> bool:
        """What is known of it is old."""
        return is_stale(self.age_s, self.interval_s)


def filter_of(text: str) -> Filter:
    """What a user typed to choose hosts."""
    return read_filter(text, FIELDS)


def chooses(found: Filter, subject: Subject) -> bool:
    """The host has everything that the filter asks for."""
    return found.holds(values_of(subject, found.fields))


def values_of(subject: Subject, names: Iterable[str]) -> Values:
    """The values of the fields that are asked for."""
    out: dict[str, tuple[Value, ...]] = {}
    for name in names:
        out[name] = tuple(dict.fromkeys(_values(subject, name)))
    return out


def _values(subject: Subject, name: str) -> Iterator[Value]:
    if name == TEXT:
        yield from (str(value).lower() for one in _TEXTS for value in _values(subject, one))
    elif name.startswith("label."):
        labels = {key.lower(): value for key, value in subject.host.labels.items()}
        yield from (labels[key] for key in [name.removeprefix("label.")] if key in labels)
    else:
        yield from (value for value in _READ[name](subject) if value is not None)


# ---------------------------------------------------------------- of the host


def _states(subject: Subject) -> Found:
    host = subject.host
    yield "stale" if subject.is_stale and host.link is Link.UP else host.link.value
    yield from (server.state.value for server in host.servers or ())
    if host.servers == ():
        yield ServerState.ABSENT.value


def _labels(subject: Subject) -> Found:
    for key, value in subject.host.labels.items():
        yield value
        yield f"{key}={value}"


def _alerts(subject: Subject) -> Found:
    for alert in subject.host.open_alerts:
        yield from (alert.rule, alert.severity, "any")


def _standing(subject: Subject) -> Found:
    host = subject.host
    servers, samples = host.servers or (), host.server_samples.values()
    found = {
        "read-only": host.read_only,
        "simulated": host.simulated,
        "ours": any(server.is_ours for server in servers),
        "foreign": any(not server.is_ours for server in servers),
        "idle": any(sample.is_idle for sample in samples),
        "stale": subject.is_stale,
    }
    return [word for word, holds in found.items() if holds]


# ---------------------------------------------------------------- of its GPUs


def _gpus(subject: Subject) -> list[GpuSample]:
    """Those that are not lost."""
    sample = subject.host.sample
    return [gpu for gpu in sample.gpus if not gpu.lost] if sample else []


def _count(subject: Subject) -> Found:
    sample = subject.host.sample
    yield None if sample is None or sample.gpu_missing is not None else float(len(sample.gpus))


def _all_known(subject: Subject, of: Callable[[GpuSample], float | None]) -> list[float]:
    """A quantity of every GPU; none at all when one of them does not tell."""
    values = [figures.known(of(gpu)) for gpu in _gpus(subject)]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _highest(of: Callable[[GpuSample], float | None]) -> Callable[[Subject], Found]:
    return lambda subject: [max(_all_known(subject, of), default=None)]


def _watts(subject: Subject) -> Found:
    known = _all_known(subject, lambda gpu: gpu.power_w)
    return [sum(known)] if known else []


# ---------------------------------------------------------------- of its servers


def _each(of: Callable[[Server], str | None]) -> Callable[[Subject], Found]:
    return lambda subject: [of(server) for server in subject.host.servers or ()]


def _sampled(
    of: Callable[[ServerSample], float | None], *, idle: float | None = None, lasts: bool = False
) -> Callable[[Subject], Found]:
    """A number of each server; of an idle one what it still prints is old, unless it `lasts`."""

    def read(subject: Subject) -> Found:
        for server in subject.host.servers or ():
            sample = subject.host.server_samples.get(server.name)
            if sample is not None:
                yield idle if sample.is_idle and not lasts else figures.known(of(sample))

    return read


def _cpu(subject: Subject) -> Found:
    sample = subject.host.sample
    yield figures.known(sample.host.cpu_percent) if sample else None


def _servers(subject: Subject) -> Found:
    servers = subject.host.servers
    yield None if servers is None else float(len(servers))


def _evens(subject: Subject) -> Found:
    return [figures.known(even) for even in subject.evens.values()]


_READ: Mapping[str, Callable[[Subject], Found]] = {
    "host": lambda subject: [subject.name],
    "state": _states,
    "server.state": _each(lambda server: server.state.value),
    "profile": _each(lambda server: server.profile),
    "model": _each(lambda server: server.model),
    "algorithm": _each(lambda server: server.algorithm or "off"),
    "version": _each(lambda server: server.version),
    "owner": _each(lambda server: server.owner),
    "server": _each(lambda server: server.name),
    "servers": _servers,
    "rate": _sampled(lambda sample: sample.tokens_per_s, idle=0.0),
    "accept": _sampled(lambda sample: sample.accept_length),
    "even": _evens,
    "running": _sampled(lambda sample: sample.running_requests, lasts=True),
    "queue": _sampled(lambda sample: sample.queued_requests, lasts=True),
    "kv": _sampled(lambda sample: figures.scaled(sample.token_usage, 0.01), lasts=True),
    "ttft": _sampled(lambda sample: figures.scaled(sample.ttft_p50_s, 0.001)),
    "gpu": lambda subject: [gpu.name for gpu in _gpus(subject)],
    "gpus": _count,
    "gpu.util": _highest(lambda gpu: gpu.utilization_percent),
    "gpu.mem": _highest(memory_percent),
    "gpu.power": _watts,
    "gpu.temp": _highest(lambda gpu: gpu.temperature_c),
    "gpu.slowed": lambda subject: [why for gpu in _gpus(subject) for why in gpu.throttle or ()],
    "cpu": _cpu,
    "age": lambda subject: [subject.age_s],
    "label": _labels,
    "group": lambda subject: [subject.host.labels.get("group")],
    "alert": _alerts,
    "is": _standing,
}
_TEXTS = (
    "host", "state", "server", "profile", "model", "algorithm", "version", "owner", "gpu", "label",
    "gpu.slowed",
)  # fmt: skip
"""The fields that free words are looked for in."""
