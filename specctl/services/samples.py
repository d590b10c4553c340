"""A host's samples one after another, over the agent's stream of changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.facts.agent_sample import read_sample

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from specctl.adapters.agent_channel import AgentChannel
    from specctl.domain.sample import Sample
    from specctl.facts.agent_sample import Reading


async def samples(agent: AgentChannel, **params: Any) -> AsyncGenerator[Sample]:
    """Every sample, until the agent ends the stream; close it early with `aclosing`.

    Where an item is missing the stream is asked for again: it begins with a whole one.
    """
    has_gap = True
    while has_gap:
        before: Reading | None = None
        async with agent.stream("sample", changes=True, **params) as items:
            async for item in items:
                sample, before = read_sample(item, before)
                if before.has_gap:
                    break
                yield sample
        has_gap = before is not None and before.has_gap
