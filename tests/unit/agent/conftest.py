from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.agent.running import RunningAgent

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def agent() -> Iterator[RunningAgent]:
    with RunningAgent() as running:
        yield running
