"""Work that is cut off before it began."""

from __future__ import annotations

import asyncio
import gc
import warnings

from textual.app import App

from specctl.tui.later import Later


async def _joined(left: str, *, right: str) -> str:
    await asyncio.sleep(0)
    return left + right


async def test_it_is_what_it_makes() -> None:
    assert await Later(_joined, "a", right="b") == "ab"


async def test_a_worker_cut_off_before_it_began_leaves_nothing_unawaited() -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        async with App[None]().run_test() as pilot:
            first, second = (
                pilot.app.run_worker(Later(_joined, "a", right=side), group="g", exclusive=True)
                for side in "bc"
            )
            assert await second.wait() == "ac"
        assert first.is_cancelled
        del first
        gc.collect()
    assert not [str(one.message) for one in warned if "never awaited" in str(one.message)]
