"""A replayed day keeps memory flat: state, series and logs are bounded."""

from __future__ import annotations

import pytest

from tests.tui.replayed_day import grown_bytes

GROWTH_BYTES = 1 << 20


@pytest.mark.soak
async def test_memory_is_flat_over_a_replayed_day(tmp_path):
    assert await grown_bytes(tmp_path) < GROWTH_BYTES
