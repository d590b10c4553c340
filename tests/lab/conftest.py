from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specctl.lab.up import take_down
from tests.lab.practice import Practice

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def home(tmp_path) -> Iterator[Practice]:
    """A home without a lab; what is brought up there goes down with the test."""
    made = Practice(tmp_path)
    try:
        yield made
    finally:
        take_down(made.lab)


@pytest.fixture(scope="session")
def shared(tmp_path_factory) -> Iterator[Practice]:
    """Two hosts that every test may use, and must leave without a fault."""
    made = Practice(tmp_path_factory.mktemp("practice"))
    made.up("--hosts", "2")
    try:
        yield made
    finally:
        take_down(made.lab)


@pytest.fixture
def practice(shared: Practice) -> Practice:
    assert shared.lab.is_up()
    assert not any(host.faults() for host in shared.lab.hosts())
    return shared
