from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.agent.changes import FULL_EVERY, Changes
from specctl.agent.sampler import to_next_s
from tests.fake_nvml import environment
from tests.unit.agent.running import RunningAgent


def _item(number, **values):
    row = {"index": 0, "uuid": "GPU-a", "v": {"power_w": 1.0, "mig": False, **values}}
    row.update(missing={}, processes=[], mig_devices=[], lost=False, latency_us=number)
    host = {"cpu_percent": 1.0, "cpu_count": 2, "missing": {}}
    return {
        "t": float(number),
        "mono": float(number),
        "cost_ms": 1.0,
        "driver_ms": 0.0,
        "host": host,
        "gpus": [row],
        "gpu_source": "nvml",
    }


def test_the_first_item_is_whole_and_the_next_ones_say_what_changed():
    changes = Changes()
    first = changes.of(_item(1))
    assert (first["full"], first["seq"], first["gpus"][0]["uuid"]) == (True, 0, "GPU-a")
    assert changes.of(_item(2, power_w=2.0)) == {
        "full": False,
        "seq": 1,
        "t": 2.0,
        "mono": 2.0,
        "cost_ms": 1.0,
        "driver_ms": 0.0,
        "host": {},
        "gpus": [{"power_w": 2.0}],
    }
    assert changes.of(_item(3, power_w=2.0))["gpus"] == [None]


def test_a_whole_item_comes_again_after_a_while():
    changes = Changes(full_every=3)
    assert [changes.of(_item(n))["full"] for n in range(7)] == [True, False, False] * 2 + [True]
    assert FULL_EVERY > 1


@pytest.mark.parametrize(
    "change",
    [
        {"lost": True},
        {"processes": [{"pid": 1}]},
        {"missing": {"power_w": ["lost", ""]}},
        {"v": {"power_w": 1.0}},
        {"v": {"power_w": None, "mig": False}},
    ],
)
def test_what_is_not_a_changed_value_brings_the_whole_row(change):
    changes, later = Changes(), _item(2)
    changes.of(_item(1))
    later["gpus"][0].update(change)
    sent = changes.of(later)
    assert (sent["full"], sent["gpus"]) == (False, [None])
    assert sent["rows"] == {"0": later["gpus"][0]}


@pytest.mark.parametrize(
    "change",
    [
        {"gpus": []},
        {"gpu_source": None},
        {"smi": {"age_s": 1.0}},
        {"host": {"cpu_percent": None, "cpu_count": 2, "missing": {"cpu_percent": ["error", ""]}}},
    ],
)
def test_what_changes_otherwise_brings_a_whole_item(change):
    changes = Changes()
    changes.of(_item(1))
    assert changes.of({**_item(2), **change})["full"] is True


@given(
    st.floats(min_value=0, max_value=4e9, allow_nan=False),
    st.sampled_from([0.05, 0.1, 0.5, 1.0, 5.0, 60.0]),
)
def test_ticks_fall_on_multiples_of_the_interval_and_never_close_together(now_s, interval_s):
    wait_s = to_next_s(now_s, interval_s)
    slack_s = 1e-5
    assert interval_s / 2 - slack_s <= wait_s <= interval_s * 1.5 + slack_s
    ticks = (now_s + wait_s) / interval_s
    assert abs(ticks - round(ticks)) * interval_s < slack_s


def test_a_real_agent_sends_a_third_of_eight_gpus_in_step_with_the_clock():
    with RunningAgent(env=environment("h100x8")) as agent:
        stream = agent.send("sample", interval_s=0.25, changes=True)
        items = [agent.item(stream) for _ in range(8)]
    assert [item["seq"] for item in items] == list(range(8))
    changed = [item for item in items if not item["full"]]
    assert len(changed) >= 5
    assert len(json.dumps(changed[-1])) < len(json.dumps(items[0])) / 3
    assert all(item["t"] % 0.25 < 0.2 for item in items[1:])


def test_changes_has_to_be_a_switch():
    with RunningAgent() as agent:
        assert agent.fail("sample", changes=1)["kind"] == "bad_request"
