from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import Any, cast

from specctl.agent.changes import Changes
from specctl.services.samples import samples


def _item(number):
    row = {"index": 0, "uuid": "GPU-a", "name": "H100", "v": {"power_w": float(number)}}
    row.update(missing={}, processes=[], mig_devices=[], lost=False)
    item = {"t": float(number), "mono": float(number), "cost_ms": 1.0, "driver_ms": 0.0}
    return {**item, "host": {"missing": {}}, "gpus": [row], "gpu_source": "nvml"}


class _LossyAgent:
    """Streams of six items, of which the first stream loses one on the way."""

    def __init__(self, *, loses):
        self._loses = list(loses)
        self.asked: list[dict[str, Any]] = []

    @asynccontextmanager
    async def stream(self, op, **params):
        self.asked.append({"op": op, **params})
        yield self._items(self._loses.pop(0))

    async def _items(self, lost):
        changes = Changes()
        for number in range(6):
            item = changes.of(_item(number))
            if number != lost:
                yield item


async def _powers(agent):
    async with aclosing(samples(cast("Any", agent), interval_s=1.0)) as found:
        return [sample.gpus[0].power_w async for sample in found]


async def test_every_sample_arrives_and_the_stream_ends():
    agent = _LossyAgent(loses=[None])
    assert await _powers(agent) == [0, 1, 2, 3, 4, 5]
    assert agent.asked == [{"op": "sample", "changes": True, "interval_s": 1.0}]


async def test_after_a_lost_item_the_stream_is_asked_for_anew_and_nothing_wrong_is_shown():
    agent = _LossyAgent(loses=[3, None])
    assert await _powers(agent) == [0, 1, 2, 0, 1, 2, 3, 4, 5]
    assert len(agent.asked) == 2


async def test_a_stream_that_loses_items_again_and_again_still_tells_something():
    agent = _LossyAgent(loses=[1, 1, None])
    assert await _powers(agent) == [0, 0, 0, 1, 2, 3, 4, 5]
