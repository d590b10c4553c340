from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.adapters.source_cache import SourceCache

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path) -> SourceCache:
    return SourceCache(tmp_path / "cache")
