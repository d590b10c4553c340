"""How long a host takes to answer over its link: what every key and every start waits for."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from specctl.domain.errors import SpecctlError

if TYPE_CHECKING:
    from specctl.adapters.agent_channel import AgentChannel
    from specctl.adapters.clock import Clock

TIME_EVERY_S = 5.0
KEPT = 3
LONGEST_S = 20.0


class LinkTiming:
    """Times one small question to the agent: a few at once, then one now and then."""

    def __init__(self, agent: AgentChannel, clock: Clock) -> None:
        self._agent, self._clock = agent, clock
        self._took: deque[float] = deque(maxlen=KEPT)

    @property
    def round_trip_s(self) -> float | None:
        """The shortest of the last times: a busy machine or link lengthens some of them."""
        return min(self._took) if len(self._took) == KEPT else None

    async def run(self) -> None:
        """Time it until cancelled."""
        while True:
            is_known = await self.time() and len(self._took) == KEPT
            if is_known or not self._took:
                await self._clock.sleep(TIME_EVERY_S)

    async def time(self) -> bool:
        """Once more; False without an answer, of which whoever reads samples tells."""
        began_s = self._clock.monotonic()
        try:
            await self._agent.ping(timeout_s=LONGEST_S)
        except SpecctlError:
            self._took.clear()
            return False
        self._took.append(self._clock.monotonic() - began_s)
        return True
