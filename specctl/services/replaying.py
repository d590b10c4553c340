"""Playing a recording into a store: at any speed, from any time, with pauses and single steps."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from specctl.domain.history import Span
from specctl.domain.state import State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specctl.adapters.clock import Clock
    from specctl.adapters.recording import Recording
    from specctl.domain.events import Event
    from specctl.domain.state import Store

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)
BATCH = 25
"""Events applied before others get a turn."""

LONGEST_NAP_S = 0.25
BEFORE_S = float(Span.MINUTES_30)
"""Samples this long before a time are read with it: no plot looks further back."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a replay is."""

    at_s: float
    """After its beginning."""

    length_s: float
    speed: float
    is_paused: bool
    is_over: bool


class Player:
    """Where a replay is, and how fast it goes; `run` is its one writer."""

    def __init__(
        self,
        recording: Recording,
        store: Store,
        clock: Clock,
        *,
        speed: float = 1.0,
        begin_anew: Callable[[], None] = lambda: None,
    ) -> None:
        """`begin_anew` is called before a jump: what was gathered so far holds no more."""
        self.recording, self.speed = recording, speed
        self.is_paused = False
        self._store, self._clock = store, clock
        self._begin_anew = begin_anew
        self._anchor_s, self._anchored_s = recording.began_s, clock.monotonic()
        self._wanted_s: float | None = recording.began_s
        self._upcoming: Event | None = None
        """Read already, and not due yet."""

        self._changed = asyncio.Event()

    def now(self) -> float:
        """The time that is shown, by the recorder's clock."""
        if self.is_paused or self._wanted_s is not None:
            return self._anchor_s
        passed_s = (self._clock.monotonic() - self._anchored_s) * self.speed
        return min(self._anchor_s + passed_s, self.recording.ended_s)

    @property
    def is_over(self) -> bool:
        """It has come to its end."""
        return self.now() >= self.recording.ended_s

    @property
    def at_s(self) -> float:
        """Seconds after its beginning."""
        return self.now() - self.recording.began_s

    @property
    def standing(self) -> Standing:
        """Where it is now."""
        length_s = self.recording.length_s
        return Standing(self.at_s, length_s, self.speed, self.is_paused, self.is_over)

    # ------------------------------------------------------------------ asking

    def pause(self, *, paused: bool) -> None:
        """Stand still, or go on; at the end, go on from the beginning."""
        if not paused and self.is_over:
            self.seek(0.0)
        self._hold(self.now())
        self.is_paused = paused
        self._changed.set()

    def set_speed(self, speed: float) -> None:
        """Go on so many times faster than it happened."""
        self._hold(self.now())
        self.speed = speed
        self._changed.set()

    def faster(self, by: int) -> None:
        """The next speed up or down."""
        at = min(range(len(SPEEDS)), key=lambda n: abs(SPEEDS[n] - self.speed))
        self.set_speed(SPEEDS[min(max(0, at + by), len(SPEEDS) - 1)])

    def seek(self, after_s: float) -> None:
        """Show the moment so many seconds after its beginning."""
        recording = self.recording
        self._wanted_s = min(max(recording.began_s, recording.began_s + after_s), recording.ended_s)
        self._hold(self._wanted_s)
        self._changed.set()

    def step(self, by_s: float) -> None:
        """Stand still so many seconds further on, or back."""
        self.pause(paused=True)
        if by_s < 0:
            self.seek(self.at_s + by_s)
            return
        self._hold(min(self.now() + by_s, self.recording.ended_s))
        self._changed.set()

    def _hold(self, time_s: float) -> None:
        self._anchor_s, self._anchored_s = time_s, self._clock.monotonic()

    # ------------------------------------------------------------------ playing

    async def run(self) -> None:
        """Play until cancelled; at the end it waits for being asked for something else."""
        events: Iterator[Event] = iter(())
        while True:
            if self._wanted_s is not None:
                events = await self._jump(self._wanted_s)
            await self._play(events)
            await self._nap(self._upcoming)

    async def _jump(self, time_s: float) -> Iterator[Event]:
        """Bring the store to a time, from nothing; returns what follows."""
        self._begin_anew()
        self._upcoming = None
        self._store.state = State()
        since_s = time_s - BEFORE_S
        for number, event in enumerate(self.recording.rare_events(before_s=since_s), 1):
            self._store.apply(event)
            if number % BATCH == 0:
                await asyncio.sleep(0)
        if self._wanted_s == time_s:
            self._wanted_s = None
            self._hold(time_s)
        return self.recording.events(since_s=since_s)

    async def _play(self, events: Iterator[Event]) -> None:
        """Apply what has happened by now; what is read and was later is kept for its time."""
        done = 0
        while self._wanted_s is None:
            event = self._upcoming or next(events, None)
            self._upcoming = event
            if event is None or event.time_s > self.now():
                return
            self._upcoming = None
            self._store.apply(event)
            done += 1
            if done % BATCH == 0:
                await asyncio.sleep(0)

    async def _nap(self, upcoming: Event | None) -> None:
        wait_s: float | None = None
        if upcoming is not None and not self.is_paused and self._wanted_s is None:
            wait_s = max(0.0, (upcoming.time_s - self.now()) / self.speed)
            wait_s = min(wait_s, LONGEST_NAP_S)
        if self._wanted_s is None:
            try:
                async with asyncio.timeout(wait_s):
                    await self._changed.wait()
            except TimeoutError:
                pass
        self._changed.clear()
