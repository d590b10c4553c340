from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specctl.domain.missing import Missing, Why
from specctl.facts.smi import COLUMNS, add_processes, read_gpus
from specctl.facts.smi_table import read_table
from specctl.facts.smi_trouble import read_trouble
from specctl.facts.smi_values import SmiTextError, read_number
from tests.unit.facts.making import ODD_NUMBERS, Dice, damaged, made

DATA = Path(__file__).parents[2] / "data" / "smi"
MIB = 1 << 20


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("14134 MiB", 14134.0),
        ("16.47 W", 16.47),
        ("0 %", 0.0),
        ("210 MHz", 210.0),
        ("16x", 16.0),
        ("30C", 30.0),
        ("-5 C", -5.0),
        ("14134", 14134.0),
    ],
)
def test_numbers_lose_their_unit(cell, expected):
    assert read_number(cell) == expected


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("[N/A]", Why.NOT_SUPPORTED),
        ("N/A", Why.NOT_SUPPORTED),
        ("[Not Supported]", Why.NOT_SUPPORTED),
        ("Not Supported", Why.NOT_SUPPORTED),
        ("Requested functionality has been deprecated", Why.NOT_SUPPORTED),
        ("[Insufficient Permissions]", Why.NO_PERMISSION),
        ("[Unknown Error]", Why.ERROR),
        ("Unknown", Why.ERROR),
        ("ERR!", Why.ERROR),
        ("[GPU requires reset]", Why.ERROR),
        ("[GPU is lost]", Why.LOST),
        ("", Why.MALFORMED),
        ("12 apples", Why.MALFORMED),
        ("1e400", Why.MALFORMED),
        ("nan", Why.MALFORMED),
    ],
)
def test_b03_every_word_for_no_value_has_its_reason(cell, why):
    found = read_number(cell)
    assert isinstance(found, Missing)
    assert found.why is why


def test_b03_rows_keep_their_known_cells():
    query = ["index", "name", "memory.total", "memory.used", "utilization.gpu", "temperature.gpu"]
    query.append("power.draw")
    answer = read_gpus(
        query,
        "0, NVIDIA A100-SXM4-40GB, 40960, [Unknown Error], [Unknown Error], 31, 55.12\n"
        "1, NVIDIA A100-SXM4-40GB, 40960, 3, [GPU requires reset], 31, ERR!\n"
        "0, Orin (nvgpu), [N/A], [N/A], [N/A], [N/A], [N/A]\n",
    )
    first, second, orin = answer.gpus
    assert (first.power_w, first.utilization_percent) == (55.12, None)
    assert first.reason("utilization_percent").why is Why.ERROR
    assert second.memory_used_bytes == 3 * MIB
    assert second.reason("power_w").why is Why.ERROR
    assert orin.reason("memory_total_bytes").why is Why.NOT_SUPPORTED
    assert answer.missing is None


def test_b03_sentences_between_rows_are_no_rows():
    text = "WARNING: something\nNVIDIA A2, 15356, [N/A]\nNVIDIA T4, [Not Supported], 3\n"
    answer = read_gpus(["name", "memory.total", "memory.used"], text)
    assert [gpu.name for gpu in answer.gpus] == ["NVIDIA A2", "NVIDIA T4"]
    assert answer.notes == ("WARNING: something",)


def test_b03_a_lost_gpu_is_told_beside_the_rows_of_the_others():
    text = (
        "55, [Not Supported], [Not Supported], 1024, 12282\n"
        "Unable to determine the device handle for GPU0000:01:00.0: GPU has fallen off the bus.\n"
    )
    query = ["temperature.gpu", "utilization.gpu", "power.draw", "memory.used", "memory.total"]
    answer = read_gpus(query, text)
    assert len(answer.gpus) == 1
    assert answer.missing is not None
    assert answer.missing.why is Why.LOST


@pytest.mark.parametrize(
    "block", (DATA / "smicsv-02-not-supported-and-na-tokens.txt").read_text().split("## ")[1:]
)
def test_b03_no_captured_row_becomes_zero(block):
    head, _, body = block.partition("\n")
    for line in body.splitlines():
        cells = line.split(", ")
        found = read_gpus(["memory.used"] * len(cells), line)
        numbers = [cell for cell in cells if cell.replace(".", "").isdigit()]
        if not numbers:
            assert all(gpu.memory_used_bytes is None for gpu in found.gpus), head


def test_no_devices_means_none_and_nothing_wrong():
    answer = read_gpus(["index", "name"], "No devices were found\n")
    assert (answer.gpus, answer.missing) == ((), None)


def test_an_empty_answer_is_not_taken_for_a_host_without_gpus():
    answer = read_gpus(["index", "name"], "")
    assert answer.missing is not None
    assert answer.missing.why is Why.MALFORMED


def test_a_header_with_units_is_skipped():
    text = "memory.total [MiB], memory.used [MiB]\n8192 MiB, 12 MiB\n"
    (gpu,) = read_gpus(["memory.total", "memory.used"], text).gpus
    assert gpu.memory_used_bytes == 12 * MIB
    assert gpu.memory_scheme == "v1"


def test_processes_without_a_pid_are_there_but_not_told():
    gpus = read_gpus(["index", "uuid"], "0, GPU-a\n1, GPU-b\n2, GPU-c\n").gpus
    rows = "GPU-a, 38310, python, 4245\nGPU-b, [Not Supported], [Not Supported], [N/A]\n"
    query = ["gpu_uuid", "pid", "process_name", "used_memory"]
    first, second, third = add_processes(gpus, query, rows)
    assert first.processes is not None
    assert [(p.pid, p.memory_bytes) for p in first.processes] == [(38310, 4245 * MIB)]
    assert second.processes is None
    assert second.reason("processes").why is Why.NOT_SUPPORTED
    assert third.processes == ()


def test_b04_mismatch_is_told():
    text = (DATA / "smi-07-driver-library-mismatch.txt").read_text()
    trouble = read_trouble(text)
    assert trouble is not None
    assert "versions differ" in trouble.detail
    assert read_table(text).gpus == ()


def test_b05_unknown_error_at_start_is_an_error_not_an_empty_host():
    answer = read_gpus(["index"], "Failed to initialize NVML: Unknown Error\n")
    assert answer.missing == Missing(Why.ERROR, "Failed to initialize NVML: Unknown Error")


def _table(name):
    return read_table((DATA / name).read_text())


def test_table_of_today():
    answer = _table("smi-01-rtx5080-default-with-process.txt")
    (gpu,) = answer.gpus
    assert answer.driver == "575.64.05"
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (14134 * MIB, 16303 * MIB)
    assert (gpu.power_w, gpu.power_limit_w, gpu.performance_state) == (10.0, 360.0, 8)
    assert gpu.utilization_percent == 0.0
    assert gpu.ecc_uncorrected is None
    assert gpu.processes is not None
    assert [(p.pid, p.name) for p in gpu.processes] == [(214109, "sglang::scheduler")]


def test_b01_table_of_a_gpu_without_own_memory():
    (gpu,) = _table("smi-02-gb10-no-processes.txt").gpus
    assert (gpu.memory_total_bytes, gpu.power_limit_w, gpu.power_w) == (None, None, 3.0)
    assert gpu.reason("memory_total_bytes").why is Why.NOT_SUPPORTED
    assert gpu.processes == ()


def test_table_of_driver_430():
    (gpu,) = _table("smi-05-old-table-no-mig-row-fan-err.txt").gpus
    assert gpu.mig is None
    assert gpu.processes is not None
    assert [(p.kind, p.memory_bytes) for p in gpu.processes] == [
        ("graphics", 49 * MIB),
        ("compute", 7979 * MIB),
    ]


def test_b07_table_shows_mig_devices_and_no_utilization():
    (gpu,) = _table("smi-08-a100-mig-four-devices.txt").gpus
    assert (gpu.mig, gpu.utilization_percent) == (True, None)
    totals = [device.memory_total_bytes for device in gpu.mig_devices]
    assert totals == [size * MIB for size in (40192, 19968, 9728, 9728)]


def test_b07_a_cut_process_list_is_not_an_empty_one():
    (gpu,) = _table("smi-10-vgpu-v100d-8c.txt").gpus
    assert (gpu.temperature_c, gpu.power_w, gpu.power_limit_w) == (None, None, None)
    assert (gpu.memory_used_bytes, gpu.memory_total_bytes) == (0, 8192 * MIB)
    assert gpu.processes is None


@pytest.mark.parametrize(
    "name", ["smi-03-gb10-err-reset-pending.txt", "smiq-01-l4-text-8x-link.txt"]
)
def test_what_is_no_whole_table_is_refused(name):
    with pytest.raises(SmiTextError):
        _table(name)


def test_half_a_gpu_is_refused():
    lines = (DATA / "smi-01-rtx5080-default-with-process.txt").read_text().splitlines()
    with pytest.raises(SmiTextError):
        read_table("\n".join(lines[:9]))


MESS = st.one_of(
    st.text(),
    st.text(alphabet="|+-=/, [N/A]ERR!0123456789MiBWC%\n"),
    st.lists(
        st.sampled_from((DATA / "smi-08-a100-mig-four-devices.txt").read_text().splitlines())
    ).map("\n".join),
    made(damaged(*(path.read_text() for path in sorted(DATA.glob("*.txt"))))),
)


@given(MESS)
def test_any_text_is_read_or_refused(text):
    read_gpus(list(COLUMNS), text)
    read_gpus(["index", "name"], text)
    add_processes(read_gpus(["uuid"], text).gpus, ["gpu_uuid", "pid"], text)
    with suppress(SmiTextError):
        read_table(text)


@given(st.text() | made(Dice.text) | st.sampled_from(ODD_NUMBERS))
def test_any_cell_is_a_number_or_a_reason(cell):
    assert isinstance(read_number(cell), float | Missing)
