"""From the store to the message queue: newest wins, five frames a second at most."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.domain.events import Event
    from specctl.domain.state import State, Store
    from specctl.tui.scene import Recent

FRAME_S = 0.2
"""Shortest time between two repaints."""


class StateChanged(Message):
    """A newer state. One still waiting in the queue is replaced, so a slow screen drops frames."""

    def __init__(self, state: State) -> None:
        super().__init__()
        self.state = state

    def can_replace(self, message: Message) -> bool:
        """Only the newest state matters."""
        return isinstance(message, StateChanged)


def listen(store: Store, recent: Recent, post: Callable[[Message], object]) -> Callable[[], None]:
    """Record every event and post the state after it; returns what stops that."""

    def take(event: Event, state: State) -> None:
        recent.record(event)
        post(StateChanged(state))

    return store.subscribe(take)


class Pace:
    """When the next frame may be painted."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last_s = float("-inf")
        self.is_waiting = False

    def wait_s(self) -> float:
        """How long until a frame may be painted; 0 for now."""
        return max(0.0, self._last_s + FRAME_S - self._clock())

    def painted(self) -> None:
        """A frame was painted."""
        self._last_s = self._clock()
        self.is_waiting = False
