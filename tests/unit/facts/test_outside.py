"""What the host around a container says of GPUs that the container cannot read."""

from __future__ import annotations

import pytest

from specctl.domain.driver_trouble import CONTAINER, LOST_DEVICES, RECREATE, RELOAD, remedy_of
from specctl.domain.missing import Missing, Why
from specctl.facts.outside import read_outside
from tests.unit.facts.captures import case

LISTED = case("B05").partition("(host) # nvidia-smi -L\n")[2]
INSIDE = Missing(Why.ERROR, "NVML answers Unknown Error")


@pytest.mark.parametrize("detail", [INSIDE.detail, f"{INSIDE.detail}: {LOST_DEVICES}; {CONTAINER}"])
def test_b05_the_container_alone_has_lost_its_gpus(detail):
    found = read_outside(Missing(Why.ERROR, detail), LISTED)
    assert found.detail.startswith(f"{INSIDE.detail} in the container only, the host itself sees 2")
    assert "looks like this" not in found.detail
    assert remedy_of(found) == RECREATE


@pytest.mark.parametrize(
    ("answer", "words", "remedy"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", "versions differ", RELOAD),
        ("sh: 1: exec: nvidia-smi: not found", "not found", None),
        ("No devices were found", "No devices", None),
        ("", "nothing", None),
    ],
)
def test_b05_a_host_that_does_not_do_better_is_quoted(answer, words, remedy):
    found = read_outside(INSIDE, answer)
    assert words in found.detail
    assert remedy_of(found) == remedy
