"""What profiles, probes and a server's own answer add to what was sampled; pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.tui.services import Argument, Reference, ServerDetails

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.alerts.judging import Even
    from specctl.domain.drift import ServerDrift
    from specctl.domain.probe import ProbeResult
    from specctl.domain.profile import Profile
    from specctl.domain.server import Server
    from specctl.domain.state import HostState
    from specctl.facts.server_info import ServerInfo

COMPARED = ("max-running-requests", "mem-fraction-static", "tp-size")
"""Arguments worth a line beside the speculative ones, where the profile sets them."""


def details_of(
    server: Server, profile: Profile | None, state: HostState, info: ServerInfo | None
) -> ServerDetails:
    """Everything known of one server."""
    own = _latest(state.results, server.profile)
    base = _latest(state.results, profile.baseline if profile else None)
    age_s = server.evidence.age_s
    seen_at_s = state.sample_at_s
    started_at_s = None if age_s is None or seen_at_s is None else seen_at_s - age_s
    return ServerDetails(
        reference=reference(own, base, profile.baseline if profile else None),
        arguments=compared_arguments(profile, info),
        started_at_s=started_at_s,
        accepted_by_position=by_position(own.histogram if own else None),
    )


def _latest(results: Mapping[str, ProbeResult], profile: str | None) -> ProbeResult | None:
    """The newest usable probe of a profile in this session."""
    usable = [r for r in results.values() if r.profile == profile and not r.void]
    return max(usable, key=lambda r: r.started_at_s, default=None) if profile else None


def reference(own: ProbeResult | None, base: ProbeResult | None, name: str | None) -> Reference:
    """What the baseline gave; break-even = own step / baseline's step, at the same batch."""
    if base is None:
        return Reference()
    even = None
    is_alike = own is not None and (own.concurrency, own.trained_on) == (
        base.concurrency, base.trained_on
    )  # fmt: skip
    if is_alike and own is not None and own.step_s and base.step_s:
        even = own.step_s / base.step_s
    return Reference(base.tokens_per_s, even, f"probe of {name}")


def with_even(reference: Reference, even: Even | None) -> Reference:
    """The reference; where it gives no break-even, that of another run of the ledger."""
    if reference.even is not None or even is None:
        return reference
    return Reference(reference.tokens_per_s, even.value, reference.source or even.source)


def by_position(histogram: tuple[int, ...] | None) -> tuple[float, ...]:
    """Share of verify steps that accepted at least the n-th draft."""
    steps = sum(histogram or ())
    if not histogram or not steps:
        return ()
    return tuple(sum(histogram[n:]) / steps for n in range(1, len(histogram)))


def compared_arguments(profile: Profile | None, info: ServerInfo | None) -> tuple[Argument, ...]:
    """The profile's speculation and a few more, beside what the server says it runs with."""
    if profile is None:
        return ()
    wanted: dict[str, object] = {}
    if profile.speculation is not None:
        wanted["algorithm"] = profile.speculation.algorithm
        wanted |= dict(profile.speculation.arguments)
    out = [_argument(name, f"speculative_{name}", value, info) for name, value in wanted.items()]
    given = profile.arguments
    out += [_argument(name, name, given[name], info) for name in COMPARED if name in given]
    return tuple(out)


def _argument(name: str, key: str, wanted: object, info: ServerInfo | None) -> Argument:
    running = info.arguments.get(key.replace("-", "_")) if info else None
    shown = None if running is None else _shown(running)
    changed = shown is not None and shown != _shown(wanted)
    return Argument(name, _shown(wanted), shown, "by engine" if changed else "")


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def named_causes(
    arguments: tuple[Argument, ...], drift: ServerDrift | None
) -> tuple[Argument, ...]:
    """The arguments, `by engine` at those alone that the engine is known to have rewritten."""
    rewritten = {row.key for row in drift.rewritten} if drift else set()
    return tuple(
        replace(a, who=a.who if not rewritten.isdisjoint({a.name, f"speculative-{a.name}"}) else "")
        for a in arguments
    )
