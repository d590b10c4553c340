"""Plans that would disturb a measurement: who measures, since when, and what allows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from specctl.domain.figures import spoken
from specctl.domain.plan import warned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specctl.domain.plan import Plan
    from specctl.domain.preflight import LockHolder
    from specctl.domain.server import Server

MEASURING = "measuring-"
"""Before the key of a GPU or port: held from the first launch of a comparison to its end."""

WAIT = "Wait until that is done, or interrupt it; a trial goes on with specctl compare --resume."


def measuring_keys(plan: Plan) -> tuple[str, ...]:
    """The locks that a measurement holds where the plan changes something."""
    return tuple(MEASURING + key for key in plan.lock_keys)


def measuring_keys_of(server: Server) -> tuple[str, ...]:
    """The locks of which whoever measures a server holds one at least."""
    gpus = [f"gpu-{gpu}" for gpu in server.gpus or ()]
    ports = [] if server.port is None else [f"port-{server.port}"]
    return tuple(MEASURING + key for key in (*gpus, *ports))


def with_measuring(plan: Plan, holders: Sequence[LockHolder], now_s: float | None) -> Plan:
    """The plan, warned and to be typed for where a measurement goes on; `now_s` by the host."""
    held = [holder for holder in holders if holder.key.startswith(MEASURING)]
    if not held or not plan.steps:
        return plan
    words = measured_words(held, now_s)
    why = f"A measurement goes on there: {words}. It would be spoiled."
    return replace(
        plan,
        checks=(*plan.checks, warned("measuring", words, WAIT)),
        needs_typed=plan.needs_typed or plan.host,
        why_typed=f"{plan.why_typed} {why}".strip(),
        default_is_safe=False,
    )


def measured_words(holders: Sequence[LockHolder], now_s: float | None) -> str:
    """`gpu-0, port-30000 measured on by aw@laptop (…) for 12 min`, one for each who does."""
    found: dict[str, list[str]] = {}
    for holder in holders:
        since = ""
        if holder.since_s is not None and now_s is not None and now_s >= holder.since_s:
            since = f", for {spoken(now_s - holder.since_s)}"
        found.setdefault(f"{holder}{since}", []).append(holder.key.removeprefix(MEASURING))
    return "; ".join(f"{', '.join(keys)} measured on by {who}" for who, keys in found.items())
