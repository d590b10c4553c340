"""What each rule says of a host at one instant; what is not known neither raises nor clears."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from specctl.domain import figures
from specctl.domain.alerts.rules import FALLING, Name, Rule
from specctl.domain.freshness import fresh_for_s
from specctl.domain.server import ServerState
from specctl.domain.state import Link
from specctl.domain.validity import NO_DRAFT_MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from specctl.domain.alerts.rules import Rules
    from specctl.domain.sample import GpuSample, ServerSample
    from specctl.domain.server import Server
    from specctl.domain.state import HostState


class Says(Enum):
    """What a rule says of what was measured."""

    RAISE = "raise"
    NEITHER = "neither"
    CLEAR = "clear"
    UNKNOWN = "unknown"
    MOOT = "moot"
    """Somebody is finding out: nothing is said of it meanwhile."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One rule about one host or server at one instant."""

    rule: Name
    says: Says
    server: str = ""
    """Empty where it is about the host."""

    level: float | None = None
    """What has to grow before it is raised; None where nothing has to."""

    gpus: frozenset[int] = frozenset()
    """The GPUs that it is about."""

    words: str = ""
    value: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Even:
    """The accept length at which speculation costs nothing, and where that is known from."""

    value: float
    source: str
    hint: str = "stop it, or try another draft length: specctl advise"


@dataclass(frozen=True, slots=True)
class Look:
    """A host at one instant, and what is known beside its state."""

    host: str
    state: HostState
    now_s: float
    hold_s: float = fresh_for_s()
    """A sample older than that says nothing of now."""

    server_hold_s: float = 6.5
    lost_after_s: float = 15.0
    """Without a sample for so long, a host whose link is up is lost all the same."""

    evens: Mapping[str, Even] | None = None
    """By profile."""

    measured: Collection[str] = ()
    """Servers that a comparison or a trial measures: their speed is what it is about to judge."""

    steady_s: float | None = None
    """The same instant by a clock that is never set; None where there is none."""

    heard_steady_s: float | None = None
    """When the host was sampled, by that clock."""

    @property
    def lasting_s(self) -> float:
        """What durations are taken from: a clock that is set must not make them longer."""
        return self.now_s if self.steady_s is None else self.steady_s

    @property
    def age_s(self) -> float | None:
        """Of the host's sample; None without one."""
        if self.state.sample_at_s is None:
            return None
        if self.steady_s is not None and self.heard_steady_s is not None:
            return self.steady_s - self.heard_steady_s
        return self.now_s - self.state.sample_at_s

    @property
    def is_fresh(self) -> bool:
        """What was sampled of the host is of now."""
        age_s = self.age_s
        return self.state.link is Link.UP and age_s is not None and age_s <= self.hold_s

    def sample(self, server: Server) -> ServerSample | None:
        """What a server said of itself, while that is of now."""
        found = self.state.server_samples.get(server.name)
        if found is None or self.state.link is not Link.UP:
            return None
        return found if self.now_s - found.time_s <= self.server_hold_s else None


def judge(look: Look, rules: Rules) -> list[Reading]:
    """Every rule that is on, about the host and each of its servers."""
    found = [
        make(look, rule) for name, make in _OF_HOST.items() if (rule := rules.by_name[name]).is_on
    ]
    for server in look.state.servers or ():
        found += [
            make(look, rule, server)
            for name, make in _OF_SERVER.items()
            if (rule := rules.by_name[name]).is_on
        ]
    return found


def _compare(rule: Rule, value: float | None) -> Says:
    """A value against the two thresholds."""
    value = figures.known(value)
    if value is None or rule.raise_at is None or rule.clear_at is None:
        return Says.UNKNOWN
    if rule.name in FALLING:
        raises, clears = value < rule.raise_at, value >= rule.clear_at
    else:
        raises, clears = value >= rule.raise_at, value < rule.clear_at
    return Says.RAISE if raises else Says.CLEAR if clears else Says.NEITHER


# ---------------------------------------------------------------- of a host


def _lost(look: Look, rule: Rule) -> Reading:
    state, age_s = look.state, look.age_s
    hint = state.link_hint or f"specctl doctor {look.host}"
    if state.link in {Link.LOST, Link.REFUSED}:
        verb = "cannot be used" if state.link is Link.REFUSED else "does not answer"
        why = state.link_words.removeprefix(f"host {look.host}: ")
        words = f"{verb}: {why}" if why else verb
        return Reading(rule.name, Says.RAISE, words=words, hint=hint)
    if state.link is not Link.UP or age_s is None:
        return Reading(rule.name, Says.UNKNOWN)
    if age_s > look.lost_after_s:
        words = f"no sample for {figures.spoken(age_s)}"
        return Reading(rule.name, Says.RAISE, words=words, hint=hint)
    return Reading(rule.name, Says.CLEAR if look.is_fresh else Says.UNKNOWN)


def _of_gpus(
    look: Look, rule: Rule, of_one: Callable[[GpuSample], Says]
) -> tuple[Says, list[GpuSample]]:
    """What the GPUs together say: one that raises is enough, clearing takes all of them."""
    sample = look.state.sample
    if not look.is_fresh or sample is None or sample.gpu_missing is not None:
        return Says.UNKNOWN, []
    said = [(gpu, of_one(gpu)) for gpu in sample.gpus if rule.name is Name.GPU or not gpu.lost]
    over = [gpu for gpu, one in said if one is Says.RAISE]
    return _all_of(one for _, one in said), over


def _all_of(said: Iterable[Says]) -> Says:
    found = set(said)
    for one in (Says.RAISE, Says.UNKNOWN, Says.NEITHER):
        if one in found:
            return one
    return Says.CLEAR


def _gpu(look: Look, rule: Rule) -> Reading:
    says, lost = _of_gpus(look, rule, lambda g: Says.RAISE if g.lost else Says.CLEAR)
    if says is not Says.RAISE:
        return Reading(rule.name, says)
    why = str(lost[0].reason("utilization_percent"))
    words = f"{_gpus(lost)} lost" + ("" if why in {"lost", "not yet read"} else f": {why}")
    return _about(rule, lost, words, "", f"specctl doctor {look.host}")


def _throttle(look: Look, rule: Rule) -> Reading:
    def of_one(gpu: GpuSample) -> Says:
        if gpu.throttle is None:
            return Says.UNKNOWN
        return Says.RAISE if _slowed(gpu, rule) else Says.CLEAR

    says, slow = _of_gpus(look, rule, of_one)
    if says is not Says.RAISE:
        return Reading(rule.name, says)
    reasons = dict.fromkeys(reason for gpu in slow for reason in _slowed(gpu, rule))
    words = f"{_gpus(slow)} slowed by {', '.join(reasons)}"
    celsius = [c for gpu in slow if (c := figures.known(gpu.temperature_c)) is not None]
    mhz = [m for gpu in slow if (m := figures.known(gpu.sm_clock_mhz)) is not None]
    parts = [f"{max(celsius):.0f} °C"] if celsius else []
    parts += [f"{min(mhz) / 1000:.2f} GHz"] if mhz else []
    hint = "what is measured meanwhile is void: look at cooling and power limits"
    return _about(rule, slow, words, ", ".join(parts), hint)


def _slowed(gpu: GpuSample, rule: Rule) -> list[str]:
    return [reason for reason in gpu.throttle or () if reason in rule.reasons]


def _memory(look: Look, rule: Rule) -> Reading:
    def of_one(gpu: GpuSample) -> Says:
        return _compare(rule, memory_percent(gpu))

    says, full = _of_gpus(look, rule, of_one)
    if says is not Says.RAISE:
        return Reading(rule.name, says)
    most = max(memory_percent(gpu) or 0.0 for gpu in full)
    verb = "uses" if len(full) == 1 else "use"
    words = f"{_gpus(full)} {verb} {most:.0f}% of memory"
    hint = "lower mem-fraction-static or max-running-requests in the profile"
    return _about(rule, full, words, f"{most:.1f}% > {rule.raise_at:g}%", hint)


def memory_percent(gpu: GpuSample) -> float | None:
    """Used memory in percent of what the GPU has; None for what it shares with its host."""
    if gpu.memory_scheme == "unified":
        return None
    part = figures.share(gpu.memory_used_bytes, gpu.memory_total_bytes)
    return None if part is None else part * 100


def _slow_link(look: Look, rule: Rule) -> Reading:
    round_trip_s = look.state.round_trip_s if look.is_fresh else None
    ms = None if round_trip_s is None else round_trip_s * 1000
    says = _compare(rule, ms)
    if says is not Says.RAISE or ms is None:
        return Reading(rule.name, says)
    return Reading(
        rule.name, says,
        words=f"slow link: {ms:.0f} ms to {look.host} and back",
        value=f"{ms:.0f} > {rule.raise_at:g} ms",
        hint="what is shown and asked for comes that late; probes are timed on the host: they hold",
    )  # fmt: skip


def _about(rule: Rule, gpus: list[GpuSample], words: str, value: str, hint: str) -> Reading:
    indices = frozenset(gpu.index for gpu in gpus)
    return Reading(
        rule.name, Says.RAISE, gpus=indices, words=words, value=value, hint=hint
    )  # fmt: skip


def _gpus(gpus: list[GpuSample]) -> str:
    """`GPU 5`, `GPUs 0-7`, `GPUs 0 2 5`."""
    found = sorted(gpu.index for gpu in gpus)
    if len(found) == 1:
        return f"GPU {found[0]}"
    if found == list(range(found[0], found[-1] + 1)):
        return f"GPUs {found[0]}-{found[-1]}"
    return "GPUs " + " ".join(str(index) for index in found)


# ---------------------------------------------------------------- of a server


def _crashed(look: Look, rule: Rule, server: Server) -> Reading:
    if look.state.link is not Link.UP or server.state in {ServerState.UNKNOWN, ServerState.STALE}:
        return Reading(rule.name, Says.UNKNOWN, server.name)
    if server.state is not ServerState.CRASHED:
        return Reading(rule.name, Says.CLEAR, server.name)
    why = server.evidence.first_cause or server.why or "no cause found in its log"
    who = server.profile or server.name
    return Reading(
        rule.name, Says.RAISE, server.name,
        words=f"{who} crashed: {why}", hint=f"specctl logs {look.host}/{server.name}",
    )  # fmt: skip


def _accept_length(look: Look, server: Server) -> float | None:
    """Of a server that speculates and decodes now; what an idle one still prints is old."""
    sample = look.sample(server)
    if sample is None or sample.is_idle or server.algorithm is None:
        return None
    return figures.known(sample.accept_length)


def _proposes(server: Server) -> bool:
    """A draft model proposes, so that accepting nothing is a fault and no measurement."""
    return server.algorithm is not None and server.algorithm not in NO_DRAFT_MODEL


def _collapsed(look: Look, rule: Rule, server: Server) -> Reading:
    value = _accept_length(look, server) if _proposes(server) else None
    says = _compare(rule, value)
    if says is not Says.RAISE or value is None:
        return Reading(rule.name, says, server.name)
    words = f"{server.profile or server.name}: accept length {value:.2f}, drafts are not wired"
    return Reading(
        rule.name, says, server.name, words=words, value=f"{value:.2f}",
        hint=f"specctl drift {look.host}/{server.name}; specctl checkpoint examines the draft",
    )  # fmt: skip


def _breakeven(look: Look, rule: Rule, server: Server) -> Reading:
    even = (look.evens or {}).get(server.profile or "")
    value = _accept_length(look, server)
    if server.name in look.measured:
        return Reading(rule.name, Says.MOOT, server.name)
    if even is None or value is None:
        return Reading(rule.name, Says.UNKNOWN, server.name)
    says = _compare(rule, figures.share(value, even.value))
    if says is not Says.RAISE:
        return Reading(rule.name, says, server.name)
    who = server.profile or server.name
    return Reading(
        rule.name, says, server.name,
        words=f"{who}: accept length {value:.2f} is under its break-even {even.value:.2f}"
        f" ({even.source})",
        value=f"{value:.2f} < {even.value:.2f}",
        hint=even.hint,
    )  # fmt: skip


def is_under_even(look: Look, rules: Rules, server: Server) -> bool:
    """Its accept length is under its break-even at this instant, as the rules have it."""
    rule = rules.by_name[Name.BREAKEVEN]
    return rule.is_on and _breakeven(look, rule, server).says is Says.RAISE


def _queue(look: Look, rule: Rule, server: Server) -> Reading:
    sample = look.sample(server)
    waiting = sample.queued_requests if sample else None
    says = _compare(rule, waiting)
    if says is not Says.RAISE or waiting is None:
        return Reading(rule.name, says, server.name)
    running = sample.running_requests if sample else None
    beside = f" beside {running} running" if running is not None else ""
    return Reading(
        rule.name, says, server.name, level=float(waiting),
        words=f"{server.profile or server.name}: {waiting} requests wait{beside}",
        value=f"{waiting} > {rule.raise_at:g}",
        hint="more come than it serves: send fewer, or raise max-running-requests",
    )  # fmt: skip


_OF_HOST: Mapping[Name, Callable[[Look, Rule], Reading]] = {
    Name.LOST: _lost,
    Name.GPU: _gpu,
    Name.THROTTLE: _throttle,
    Name.MEMORY: _memory,
    Name.SLOW_LINK: _slow_link,
}
_OF_SERVER: Mapping[Name, Callable[[Look, Rule, Server], Reading]] = {
    Name.CRASHED: _crashed,
    Name.COLLAPSED: _collapsed,
    Name.BREAKEVEN: _breakeven,
    Name.QUEUE: _queue,
}
