from __future__ import annotations

import json
from enum import IntEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.events import HostSampled
from specctl.domain.missing import Missing, Why
from specctl.domain.plain import plain
from specctl.domain.sample import GpuSample, HostSample, Sample
from specctl.domain.server import ServerState


class Answer(IntEnum):
    ALL = 42


def test_an_event_is_one_json_object_with_its_reasons():
    gpu = GpuSample(
        0, "GPU-1", "H100", power_w=250.5, missing={"energy_j": Missing(Why.LOST, "Xid 79")}
    )
    event = HostSampled("h", 1.5, Sample(1, HostSample(), (gpu,), "nvml"))
    value = json.loads(json.dumps(plain(event)))
    assert value["sample"]["gpus"][0]["power_w"] == 250.5
    assert value["sample"]["gpus"][0]["energy_j"] is None
    assert value["sample"]["gpus"][0]["missing"] == {"energy_j": "lost: Xid 79"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (ServerState.READY, "ready"),
        (Answer.ALL, 42),
        (float("nan"), None),
        (float("inf"), None),
        ((1, (2,)), [1, [2]]),
        ({1: True}, {"1": True}),
    ],
)
def test_plain(value, expected):
    assert plain(value) == expected


def test_what_has_no_form_is_refused():
    with pytest.raises(TypeError, match="object has no JSON form"):
        plain(object())


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_everything_plain_is_valid_json(value):
    json.dumps(plain(value), allow_nan=False)
