from __future__ import annotations

import pytest

from specctl.domain.doctor import (
    GIB,
    FoundSglang,
    Level,
    judge_clock,
    judge_disk,
    judge_driver,
    judge_faults,
    judge_gpus,
    judge_ports,
    judge_python,
    judge_sglang,
    judge_shell,
    judge_shm,
    judge_state_dir,
    judge_survival,
    worst,
)
from specctl.domain.missing import Missing, Why
from specctl.domain.preflight import SpaceReading, SurvivalReading
from specctl.domain.sample import GpuSample, HostSample, Sample

A = FoundSglang("/opt/a/bin/python", "0.5.23", "/opt/a/lib/sglang")
B = FoundSglang("/opt/b/bin/python", None, "/opt/b/lib/sglang")


def space(total_gib: float | None, free_gib: float | None, detail: str = "") -> SpaceReading:
    total, free = (None if x is None else int(x * GIB) for x in (total_gib, free_gib))
    return SpaceReading("/s", total, free, detail)


def sample(*gpus: GpuSample, source: str | None = "nvml", missing: Missing | None = None) -> Sample:
    return Sample(1.0, HostSample(), gpus, source, missing, driver="580.1")


def gpu(index: int = 0, **fields) -> GpuSample:
    return GpuSample(index, f"GPU-{index}", "H100", **fields)


NO_DRIVER = Missing(Why.NOT_INSTALLED, "no libnvidia-ml.so.1")
MISMATCH = Missing(Why.ERROR, "driver/library version mismatch")


@pytest.mark.parametrize(
    ("row", "level", "words"),
    [
        (judge_python("3.8.10", "/usr/bin/python3"), Level.PASS, "3.8.10 at"),
        (judge_python("3.7.3", "/usr/bin/python3"), Level.FAIL, "needs 3.8"),
        (judge_python("3.10.0", "/usr/bin/python3"), Level.PASS, "3.10.0"),
        (judge_sglang((), None), Level.WARN, "no interpreter"),
        (judge_sglang((), "/x/python"), Level.FAIL, "no interpreter"),
        (judge_sglang((A,), None), Level.PASS, "0.5.23 at /opt/a"),
        (judge_sglang((A, B), None), Level.WARN, "unknown version"),
        (judge_sglang((A, B), B.python), Level.PASS, "unknown version at /opt/b"),
        (judge_sglang((A,), "/x/python"), Level.FAIL, "found in /opt/a/bin/python"),
        (judge_clock(0.4), Level.PASS, "within"),
        (judge_clock(-3.0), Level.WARN, "3.0 s behind"),
        (judge_clock(301.0), Level.FAIL, "ahead"),
        (judge_disk(space(100, 50)), Level.PASS, "50.0 GiB free"),
        (judge_disk(space(100, 2)), Level.WARN, "2.0 GiB"),
        (judge_disk(space(100, 0)), Level.FAIL, "0.0 GiB"),
        (judge_disk(space(None, None, "no such directory")), Level.WARN, "no such directory"),
        (judge_shm(space(10, 9)), Level.PASS, "9.0 GiB"),
        (judge_shm(space(10, 1)), Level.WARN, "1.0 GiB"),
        (judge_shm(space(10, 0.1)), Level.FAIL, "0.1 GiB"),
        (judge_shm(space(0, 0)), Level.WARN, "cannot be read"),
        (judge_driver(sample(gpu()), "580.1"), Level.PASS, "580.1 through NVML"),
        (judge_driver(sample(source="nvidia-smi"), None), Level.WARN, "through nvidia-smi"),
        (judge_driver(sample(source=None, missing=NO_DRIVER), None), Level.WARN, "libnvidia"),
        (judge_driver(sample(source=None, missing=MISMATCH), "570.1"), Level.FAIL, "570.1"),
        (judge_driver(sample(source=None, missing=MISMATCH), None), Level.FAIL, "mismatch"),
        (judge_shell("/usr/bin/fish", 0.012), Level.PASS, "/usr/bin/fish, a command takes 12 ms"),
        (judge_shell(None, 2.5), Level.WARN, "unknown, a command takes 2500 ms"),
        (judge_gpus((gpu(0), GpuSample(1, "u", "L4"))), Level.PASS, "1 × H100, 1 × L4"),
        (judge_gpus(()), Level.WARN, "none"),
        (judge_gpus((gpu(0), gpu(1))), Level.PASS, "2 × H100"),
        (judge_gpus((gpu(0), gpu(1, lost=True))), Level.FAIL, "GPU 1 is lost"),
        (judge_gpus((gpu(0, ecc_uncorrected=3),)), Level.WARN, "ECC errors on GPU 0"),
        (judge_gpus((gpu(0, persistence=False),)), Level.WARN, "persistence"),
        (judge_state_dir("/s", ()), Level.PASS, "/s"),
        (judge_state_dir("/v", ("/s: mkdir: denied",)), Level.WARN, "/v, because /s: mkdir"),
        (judge_state_dir(None, ("/s: mkdir: denied",)), Level.FAIL, "/s: mkdir: denied"),
        (judge_ports({}), Level.PASS, "no profile"),
        (judge_ports({30000: ""}), Level.PASS, "free: 30000"),
        (judge_ports({30000: "pid 7 of mkl"}), Level.WARN, "30000 is held by pid 7 of mkl"),
    ],
)
def test_rows(row, level, words):
    assert row.level is level
    assert words in row.words
    assert bool(row.next_step) is (level is not Level.PASS)


def test_c11_session_end_kills_servers():
    row = judge_survival("aw", SurvivalReading(kills_processes=True, lingers=False))
    assert row.level is Level.WARN
    assert row.next_step == "sudo loginctl enable-linger aw"


XID = "NVRM: Xid (PCI:0000:61:00): 79, GPU has fallen off the bus."
HUNG = Missing(Why.TIMED_OUT, "nvidia-smi did not answer within 10 s, 3 times")


@pytest.mark.parametrize(
    ("lines", "found", "level", "words"),
    [
        ((), sample(gpu()), Level.PASS, "no driver fault"),
        ((XID, XID), sample(gpu()), Level.WARN, f"2 lines, the last: {XID}"),
        ((XID,), sample(gpu(lost=True)), Level.FAIL, "1 line, the last"),
        ((XID,), sample(source=None, missing=HUNG), Level.FAIL, "fallen off the bus"),
        (None, sample(source=None, missing=HUNG), Level.WARN, "may not be read by this user"),
    ],
)
def test_b10_the_kernel_log_names_the_fault(lines, found, level, words):
    row = judge_faults(lines, found)
    assert row is not None
    assert (row.level, bool(row.next_step)) == (level, level is not Level.PASS)
    assert words in row.words


@pytest.mark.parametrize(
    ("lines", "found"), [(None, sample(gpu())), ((XID,), sample(source=None, missing=NO_DRIVER))]
)
def test_b10_nothing_is_said_where_nothing_is_missed(lines, found):
    assert judge_faults(lines, found) is None


@pytest.mark.parametrize(
    ("kills", "lingers", "ipc", "level"),
    [
        (True, True, True, Level.PASS),
        (False, False, False, Level.PASS),
        (False, False, True, Level.WARN),
        (None, None, None, Level.PASS),
        (True, None, None, Level.WARN),
    ],
)
def test_survival(kills, lingers, ipc, level):
    reading = SurvivalReading(kills_processes=kills, lingers=lingers, removes_ipc=ipc)
    assert judge_survival("aw", reading).level is level


def test_the_worst_row_decides():
    rows = [judge_clock(0), judge_clock(3), judge_shm(space(1, 0))]
    assert worst(rows) is Level.FAIL
    assert worst(rows[:2]) is Level.WARN
    assert worst([]) is Level.PASS
