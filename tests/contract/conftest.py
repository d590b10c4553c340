"""Interpreters with the stand-in of each release, lab hosts, and servers that end with a test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.dialects import VERSIONS
from tests.contract.standin import StandIn, lay_host, lay_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The interpreter of a release, made when it is first asked for."""
    made: dict[str, Path] = {}

    def find(version: str) -> Path:
        if version not in made:
            made[version] = lay_python(tmp_path_factory.mktemp("python") / "venv", version)
        return made[version]

    return find


@pytest.fixture(scope="session")
def story() -> dict[str, Any]:
    """Costs, models and drafters of the lab hosts."""
    from tests.contract.story import STORY

    return STORY


@pytest.fixture
def launch(
    pythons: Callable[[str], Path], story: dict[str, Any], tmp_path: Path
) -> Iterator[Callable[..., StandIn]]:
    """Starts servers on one lab host; all of them are gone afterwards."""
    host = lay_host(tmp_path / "host", story)
    started: list[StandIn] = []

    def start(*arguments: str, version: str = VERSIONS[0], **environment: str) -> StandIn:
        server = StandIn(version, pythons(version), host, arguments, environment)
        started.append(server)
        return server.start()

    start.host = host  # type: ignore[attr-defined]
    yield start
    for server in started:
        server.end()
