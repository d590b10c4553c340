"""From the store to the message queue: newest wins, and only so many frames a second."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

from specctl.domain.events import HostSampled, LogRead, ServerSampled, ServersSeen
from specctl.domain.freshness import SAMPLED_EVERY_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from specctl.domain.events import Event
    from specctl.domain.server import ServerState
    from specctl.domain.state import State, Store
    from specctl.tui.scene import Recent

FRAME_S, SLOWEST_FRAME_S = 0.2, 1.0
"""Shortest time between two repaints, and the longest that a frame's cost makes it."""

NUMBERS_SHARE, REST_SHARE = 0.9, 1.1
"""Where only numbers and logs went on, as they do all day, a frame an interval of sampling.

Samples of hosts bring it; what else there is waits for them, or a little longer than they take.
"""

NUMBERS = (HostSampled, ServerSampled, ServersSeen, LogRead)

GATHERED_S = 0.03
"""A frame of numbers waits so long for those of the same instant, and has them too."""

TICK_S = 0.9
"""Clocks and ages are painted so often where nothing else changes."""

REST = 80
"""A frame waits so many times as long as the one before it took: many hosts stay cheap."""


class StateChanged(Message):
    """A newer state. One still waiting in the queue is replaced, so a slow screen drops frames."""

    def __init__(self, state: State, *, has_news: bool = True) -> None:
        """`has_news`: more than numbers and logs that go on all day."""
        super().__init__()
        self.state, self.has_news = state, has_news

    def can_replace(self, message: Message) -> bool:
        """Only the newest state matters; news are not held up by numbers."""
        return isinstance(message, StateChanged) and message.has_news >= self.has_news


def _none_awaited() -> bool:
    """No frame is."""
    return False


def _unheard(kind: type[Event]) -> None:
    """Nobody asks what was heard."""
    del kind


def listen(
    store: Store,
    recent: Recent,
    post: Callable[[Message], object],
    is_awaited: Callable[[], bool] = _none_awaited,
    hear: Callable[[type[Event]], object] = _unheard,
) -> Callable[[], None]:
    """Record every event and post the state after it; returns what stops that.

    Numbers are not posted while a frame `is_awaited`: it will show them, and `hear` is told of
    what kind they are.
    """
    standing: dict[str, list[tuple[str, ServerState]]] = {}

    def take(event: Event, state: State) -> None:
        recent.record(event)
        hear(type(event))
        has_news = not isinstance(event, NUMBERS)
        if isinstance(event, ServersSeen):
            before = standing.get(event.host)
            standing[event.host] = now = [(one.name, one.state) for one in event.servers]
            has_news = now != before
        if has_news or not is_awaited():
            post(StateChanged(state, has_news=has_news))

    return store.subscribe(take)


class Pace:
    """When the next frame may be painted."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last_s = float("-inf")
        self._frame_s = FRAME_S
        self.sampled_every_s = SAMPLED_EVERY_S
        self.is_waiting = False
        """A timer will have the next frame painted."""

        self.heard: set[type[Event]] = set()
        """Kinds of events since the last frame."""

    def wait_s(self, *, has_news: bool = True) -> float:
        """How long until a frame may be painted; 0 for now."""
        if has_news:
            return max(0.0, self._last_s + self._frame_s - self._clock())
        share = NUMBERS_SHARE if HostSampled in self.heard else REST_SHARE
        frame_s = max(self._frame_s, share * self.sampled_every_s)
        return max(GATHERED_S, self._last_s + frame_s - self._clock())

    @property
    def is_old(self) -> bool:
        """The last frame is so old that the time it shows is."""
        return self._clock() - self._last_s >= TICK_S

    def painted(self, cost_s: float = 0.0) -> None:
        """A frame was painted, and took so much processor time."""
        self._last_s = self._clock()
        self.heard.clear()
        self._frame_s = min(max(FRAME_S, REST * cost_s), SLOWEST_FRAME_S)
