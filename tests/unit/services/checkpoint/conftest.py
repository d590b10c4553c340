"""A target and a draft beside it, and the check of both."""

from __future__ import annotations

import pytest

from specctl.services.checkpoint import CheckpointRequest, check_checkpoint
from tests.checkpoints import (
    Directories,
)


@pytest.fixture
def models(tmp_path):
    return Directories(tmp_path / "models")


@pytest.fixture
def check(connection):
    async def check_pair(target, draft, algorithm=None, **more):
        return await check_checkpoint(
            connection, CheckpointRequest(target, draft, algorithm, **more)
        )

    return check_pair
