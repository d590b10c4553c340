from __future__ import annotations

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from specctl.agent.changes import Changes
from specctl.domain.missing import Why
from specctl.facts.agent_sample import read_sample

COUNTERS = ("pcie_rx_bytes", "pcie_tx_bytes", "nvlink_rx_bytes", "nvlink_tx_bytes")
SMALL = st.integers(0, 3)
REASONS = st.sampled_from([["not supported", ""], ["no permission", "root only"], ["error", "x"]])
COUNTED = SMALL | st.sampled_from([(1 << 32) - 1, 1 << 32, 1 << 40, -1])
VALUES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("utilization_percent", "power_w", "energy_j", "temperature_c"), SMALL),
        **dict.fromkeys(("memory_total_bytes", "memory_used_bytes"), SMALL),
        "memory_reserved_bytes": SMALL | st.none(),
        "memory_scheme": st.sampled_from(["v1", "v2", "v9"]),
        "throttle_mask": st.sampled_from([0, 4, 8 | 64, -1, True, "4"]),
        "pcie_generation_max": st.sampled_from([3, 5, None]),
        "pcie_width_max": st.sampled_from([16, "x16"]),
        "pcie_is_32_bit": st.booleans(),
        "mig": st.booleans(),
        "persistence": st.booleans() | st.just(1),
        "sm_clock_mhz": SMALL | st.sampled_from(["fast", float("inf"), 2.0]),
        "ecc_corrected": SMALL | st.just(-1),
        **dict.fromkeys(COUNTERS, COUNTED),
    },
)
PROCESSES = st.none() | st.lists(
    st.fixed_dictionaries({"pid": SMALL, "memory_bytes": SMALL | st.none()}), max_size=2
)
MIG_DEVICES = st.lists(st.fixed_dictionaries({"uuid": st.just("MIG-a"), "name": st.just("1g")}))
ROWS = st.fixed_dictionaries(
    {
        "index": st.integers(0, 1),
        "uuid": st.sampled_from(["GPU-a", "GPU-b", ""]),
        "name": st.sampled_from(["NVIDIA H100", "NVIDIA GB10"]),
        "v": VALUES,
        "missing": st.dictionaries(
            st.sampled_from(["*", "power_w", "memory_total_bytes"]), REASONS
        ),
        "processes": PROCESSES,
        "mig_devices": MIG_DEVICES,
        "lost": st.booleans(),
        "latency_us": SMALL,
    }
)
HOSTS = st.fixed_dictionaries(
    {
        "cpu_percent": SMALL | st.none(),
        "memory_total_bytes": SMALL,
        "memory_available_bytes": SMALL,
        "network_rx_bytes": SMALL | st.none(),
        "missing": st.dictionaries(st.sampled_from(["cpu_percent", "*"]), REASONS, max_size=1),
    }
)
ITEMS = st.fixed_dictionaries(
    {
        "host": HOSTS,
        "gpus": st.lists(ROWS, min_size=1, max_size=2),
        "gpu_source": st.sampled_from(["nvml", "nvml", "nvml", None]),
        "gpu_missing": st.none() | REASONS,
        "driver": st.just("570.1"),
    }
)


@st.composite
def sequences(draw):
    """Items of one stream, most of them the one before with a few things changed."""
    items = [draw(ITEMS)]
    for _ in range(draw(st.integers(1, 6))):
        item = copy.deepcopy(items[-1])
        for row in item["gpus"]:
            row["v"].update(
                {name: value for name, value in draw(VALUES).items() if draw(st.booleans())}
            )
            for name in COUNTERS:
                row["v"][name] = row["v"].get(name, 0) + draw(SMALL)
            if draw(SMALL) == 0:
                part = draw(st.sampled_from(sorted(row)))
                row[part] = draw(ROWS)[part]
        if draw(SMALL) == 0:
            item["host"] = draw(HOSTS)
        items.append(draw(ITEMS) if draw(st.integers(0, 7)) == 0 else item)
    for number, item in enumerate(items):
        item.update(t=float(number), mono=number + draw(st.floats(0, 0.5)))
        item.update(cost_ms=draw(SMALL), driver_ms=draw(SMALL))
    return items


def _sent(items, **options):
    """As the agent sends them, and as JSON brings them."""
    changes = Changes(**options)
    return [json.loads(json.dumps(changes.of(item))) for item in copy.deepcopy(items)]


def _read(items):
    samples, before = [], None
    for item in items:
        sample, before = read_sample(item, before)
        samples.append(sample)
    return samples


@given(sequences())
def test_changes_read_as_the_whole_items_do(items):
    assert _read(_sent(items)) == _read(items)


@given(sequences(), st.integers(0, 6), st.data())
def test_a_lost_item_never_leaves_a_wrong_picture(items, lost, data):
    sent = _sent(items, full_every=data.draw(st.integers(1, 5)))
    whole, before, is_blind = _read(items), None, False
    for number, item in enumerate(sent):
        if number == lost % len(sent):
            is_blind = True
            continue
        sample, before = read_sample(item, before)
        is_blind = is_blind and not item["full"]
        assert before.has_gap is is_blind
        if is_blind:
            assert sample.gpus == ()
            assert sample.gpu_missing is not None
            assert sample.gpu_missing.why is Why.NOT_YET
        else:
            assert _without_rates(sample) == _without_rates(whole[number])


def _without_rates(sample):
    return [
        (gpu.uuid, gpu.power_w, gpu.lost, gpu.processes, gpu.mig_devices) for gpu in sample.gpus
    ]


def _busy(mono, **values):
    v = dict.fromkeys(COUNTERS, int(mono) * 1000) | {"power_w": 1.0, "memory_used_bytes": 7}
    row = {"index": 0, "uuid": "GPU-a", "name": "H100", "v": {**v, **values}, "missing": {}}
    row.update(processes=[], mig_devices=[], lost=False)
    item = {"t": mono, "mono": mono, "host": {"missing": {}}, "gpus": [row], "gpu_source": "nvml"}
    return {**item, "cost_ms": 1.0, "driver_ms": 0.0}


def test_a_gpu_of_which_nothing_changed_is_the_same_object():
    first, second, third = _read(_sent([_busy(1.0), _busy(2.0), _busy(3.0)]))
    assert first.gpus[0] is not second.gpus[0]  # its rates are known now
    assert second.gpus[0] is third.gpus[0]


def test_a_change_of_an_item_never_seen_says_so():
    sent = _sent([_busy(1.0), _busy(2.0, power_w=9.0)])
    sample, reading = read_sample(sent[1], None)
    assert reading.has_gap
    assert "lost" in str(sample.gpu_missing)
    assert "lost" in str(sample.host.missing["cpu_percent"])


def test_changes_of_another_number_of_gpus_are_not_believed():
    first, second = _sent([_busy(1.0), _busy(2.0)])
    _, before = read_sample(first, None)
    _, after = read_sample({**second, "gpus": [None, None]}, before)
    assert after.has_gap
