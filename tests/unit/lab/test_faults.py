from __future__ import annotations

import pytest

from specctl.domain.errors import UsageError
from specctl.lab.faults import FAULTS, parse_fault


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("slow-link", {"delay_ms": 150.0, "kib_per_s": 256.0}),
        ("slow-link:delay_ms=0", {"delay_ms": 0.0, "kib_per_s": 256.0}),
        ("clock-skew:seconds=-3600", {"seconds": -3600.0}),
        ("cut-link:silent=true", {"silent": True}),
        ("two-operators:operator=kim@desk", {"operator": "kim@desk", "gpus": "all", "port": 30000}),
    ],
)
def test_parameters_are_read_as_their_defaults_are(text, found):
    assert parse_fault(text) == (text.partition(":")[0], found)


@pytest.mark.parametrize(
    "text",
    [
        "slow-link:delay_ms=-1", "slow-link:delay_ms=nan", "slow-link:kib_per_s=0",
        "slow-weights:seconds=inf", "slow-weights:seconds=-3", "two-operators:port=0",
        "clock-skew:seconds=nan", "cut-link:silent=maybe", "slow-link:delay=5", "slow-lnk",
    ],
)  # fmt: skip
def test_what_no_host_can_act_out_is_refused(text):
    with pytest.raises(UsageError):
        parse_fault(text)


def test_every_fault_takes_its_own_defaults():
    for name, fault in FAULTS.items():
        pairs = ",".join(f"{key}={value}" for key, value in fault.parameters.items())
        assert parse_fault(f"{name}:{pairs}") == (name, dict(fault.parameters))
