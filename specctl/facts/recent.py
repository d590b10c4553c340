"""Which launch records are still worth showing beside the servers that live."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.server import ServerProcess

RECENT_S = 86_400.0
"""A server that crashed is shown for a day, or until its port or profile is used again."""


def worth_showing(
    records: Iterable[LaunchRecord], processes: Iterable[ServerProcess], now_s: float
) -> tuple[LaunchRecord, ...]:
    """Records of what lives, and of what ended lately by itself and was not replaced since.

    `records` come newest first, `now_s` is by the host's clock; what was stopped is history.
    """
    markers = {p.identity.marker for p in processes}
    alive = {(p.identity.pid, p.identity.start_ticks) for p in processes}
    shown: list[LaunchRecord] = []
    used: set[object] = set()
    for record in records:
        places = {("port", record.port), ("profile", record.profile)} - {("profile", None)}
        main = (record.identity.pid, record.identity.start_ticks)
        is_alive = record.launch_id in markers or main in alive
        if is_alive or (_ended_lately(record, now_s) and not places & used):
            shown.append(record)
        used |= places
    return tuple(shown)


def _ended_lately(record: LaunchRecord, now_s: float) -> bool:
    ended_at_s = record.exit.time_s if record.exit else record.started_at_s
    is_recent = ended_at_s is not None and now_s - ended_at_s < RECENT_S
    return record.stop_asked_at_s is None and is_recent
