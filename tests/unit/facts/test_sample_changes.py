from __future__ import annotations

import copy
import json

from hypothesis import given
from hypothesis import strategies as st

from specctl.agent.changes import Changes
from specctl.domain.missing import Why
from specctl.facts.agent_sample import read_sample
from tests.unit.facts.making import either, made, many, mapping, number, record, word

COUNTERS = ("pcie_rx_bytes", "pcie_tx_bytes", "nvlink_rx_bytes", "nvlink_tx_bytes")
SMALL = number(0, 3)
REASONS = word(["not supported", ""], ["no permission", "root only"], ["error", "x"])
COUNTED = either(SMALL, word((1 << 32) - 1, 1 << 32, 1 << 40, -1))
TRUTH = word(True, False)
VALUES = record(
    {},
    {
        **dict.fromkeys(("utilization_percent", "power_w", "energy_j", "temperature_c"), SMALL),
        **dict.fromkeys(("memory_total_bytes", "memory_used_bytes"), SMALL),
        "memory_reserved_bytes": either(SMALL, word(None)),
        "memory_scheme": word("v1", "v2", "v9"),
        "throttle_mask": word(0, 4, 8 | 64, -1, True, "4"),
        "pcie_generation_max": word(3, 5, None),
        "pcie_width_max": word(16, "x16"),
        "pcie_is_32_bit": TRUTH,
        "mig": TRUTH,
        "persistence": word(True, False, 1),
        "sm_clock_mhz": either(SMALL, word("fast", float("inf"), 2.0)),
        "ecc_corrected": either(SMALL, word(-1)),
        **dict.fromkeys(COUNTERS, COUNTED),
    },
)
PROCESSES = many(record({"pid": SMALL, "memory_bytes": either(SMALL, word(None))}), 2)
ROWS = record(
    {
        "index": number(0, 1),
        "uuid": word("GPU-a", "GPU-b", ""),
        "name": word("NVIDIA H100", "NVIDIA GB10"),
        "v": VALUES,
        "missing": mapping(word("*", "power_w", "memory_total_bytes"), REASONS, 3),
        "processes": either(word(None), PROCESSES),
        "mig_devices": many(record({"uuid": word("MIG-a"), "name": word("1g")}), 3),
        "lost": TRUTH,
        "latency_us": SMALL,
    }
)
HOSTS = record(
    {
        "cpu_percent": either(SMALL, word(None)),
        "memory_total_bytes": SMALL,
        "memory_available_bytes": SMALL,
        "network_rx_bytes": either(SMALL, word(None)),
        "missing": mapping(word("cpu_percent", "*"), REASONS, 1),
    }
)
ITEMS = record(
    {
        "host": HOSTS,
        "gpus": many(ROWS, 2, least=1),
        "gpu_source": word("nvml", "nvml", "nvml", None),
        "gpu_missing": either(word(None), REASONS),
        "driver": word("570.1"),
    }
)


def _changed(dice, item):
    """The next item of a stream: mostly the one before with a few things changed."""
    if dice.randrange(8) == 0:
        return ITEMS(dice)
    item = copy.deepcopy(item)
    for row in item["gpus"]:
        row["v"].update({k: value for k, value in VALUES(dice).items() if dice.random() < 0.5})
        for name in COUNTERS:
            row["v"][name] = row["v"].get(name, 0) + SMALL(dice)
        if SMALL(dice) == 0:
            part = dice.choice(sorted(row))
            row[part] = ROWS(dice)[part]
    if SMALL(dice) == 0:
        item["host"] = HOSTS(dice)
    return item


def _sequence(dice):
    items = [ITEMS(dice)]
    for _ in range(max(1, min(dice.size, dice.randint(1, 6)))):
        items.append(_changed(dice, items[-1]))
    for place, item in enumerate(items):
        item.update(t=float(place), mono=place + dice.uniform(0, 0.5))
        item.update(cost_ms=SMALL(dice), driver_ms=SMALL(dice))
    return items


SEQUENCES = made(_sequence)


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


@given(SEQUENCES)
def test_changes_read_as_the_whole_items_do(items):
    assert _read(_sent(items)) == _read(items)


@given(SEQUENCES, st.integers(0, 6), st.integers(1, 5))
def test_a_lost_item_never_leaves_a_wrong_picture(items, lost, full_every):
    sent = _sent(items, full_every=full_every)
    whole, before, is_blind = _read(items), None, False
    for place, item in enumerate(sent):
        if place == lost % len(sent):
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
            assert _without_rates(sample) == _without_rates(whole[place])


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
