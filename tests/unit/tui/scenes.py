"""Scenes made of events, without an app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.state import Store
from specctl.tui.scene import Recent, Scene
from tests.tui import parts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from specctl.domain.events import Event


def scene_of(events: Iterable[Event], **values: Any) -> Scene:
    """What a frame would be drawn from after these events."""
    store, recent = Store(), Recent()
    for event in events:
        store.apply(event)
        recent.record(event)
    full: dict[str, Any] = {
        "state": store.state,
        "now_s": parts.NOW_S,
        "clock_s": parts.NOW_S,
        "offset_s": parts.OFFSET_S,
        "hosts": tuple(sorted(store.state.hosts)),
        "recent": recent,
        "history": recent.history,
        "details": parts.details,
    }
    return Scene(**(full | values))
