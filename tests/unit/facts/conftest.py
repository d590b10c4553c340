"""`make fuzz`: each reading of remote text is given FUZZ inputs, in rounds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

ROUND = 1000
"""Inputs of one run of hypothesis: it keeps all it has drawn, and looks through it ever longer."""

FUZZ = int(os.environ.get("FUZZ", "0"))

if FUZZ:  # each round draws its own inputs, in a CI too, and says how to draw one that fails again
    settings.register_profile(
        "fuzz",
        settings.default,
        max_examples=min(FUZZ, ROUND),
        derandomize=False,
        database=None,
        print_blob=True,
    )
    settings.load_profile("fuzz")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A property is a test for each round, so that they are shared out among workers."""
    rounds = -(-FUZZ // ROUND)
    if rounds > 1 and getattr(metafunc.function, "is_hypothesis_test", False):
        metafunc.fixturenames.append("fuzz_round")
        metafunc.parametrize("fuzz_round", range(rounds))
