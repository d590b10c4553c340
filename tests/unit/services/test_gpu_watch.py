from __future__ import annotations

import asyncio

import pytest

from specctl.domain.probe import Void, VoidKind
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, Sample
from specctl.domain.server import Identity, Server, ServerState
from specctl.services.gpu_watch import OTHER_NAMESPACE, GpuWatch, descendants

ROWS = [
    {"pid": 10, "ppid": 1, "start_ticks": 77},
    {"pid": 11, "ppid": 10, "start_ticks": 78},
    {"pid": 12, "ppid": 11, "start_ticks": 79},
    {"pid": 20, "ppid": 1, "start_ticks": 80},
]


def test_descendants_are_the_process_and_all_below_it():
    assert descendants(ROWS, 10) == {10, 11, 12}
    assert descendants(ROWS, 99) == {99}
    assert descendants([{"pid": 1, "ppid": 1}], 1) == {1}


class Agent:
    """Answers as the agent's `processes` does."""

    def __init__(self, rows):
        self.rows = rows

    async def call(self, op, **_):
        assert op == "processes"
        return {"boot_id": "b", "processes": self.rows}


def watch_of(samples, rows=ROWS):
    server = Server("s", ServerState.READY, Identity("b", 10, 77, 10, 10, ""), True, gpus=(0,))
    watch = GpuWatch(Agent(rows), server)  # type: ignore[arg-type]
    watch._samples.extend(samples)
    return watch


def sample(*pids, throttle=()):
    processes = tuple(GpuProcess(pid, 1, "compute") for pid in pids)
    gpu = GpuSample(0, "GPU-0", "X", throttle=throttle, processes=processes)
    return Sample(0.0, HostSample(), (gpu,), "nvml")


async def test_identity_is_pid_and_start_time():
    watch = watch_of([])
    assert dict(await watch.identify()) == {"boot": "b", "process": "pid 10, started 77"}
    assert dict(await watch_of([], rows=[]).identify())["process"] == "ended"


@pytest.mark.parametrize(
    ("samples", "void", "notes"),
    [
        ([sample(11, 12)], (), ()),
        ([sample(11, 20)], (Void(VoidKind.OUTSIDE, "GPU 0 was used by another process: 20"),), ()),
        ([sample(4711)], (), (OTHER_NAMESPACE,)),
        (
            [sample(11), sample(11, throttle=("power cap",))],
            (Void(VoidKind.ARM, "GPU 0 was slowed down: power cap"),),
            (),
        ),
        ([], (), ()),
    ],
)
async def test_findings(samples, void, notes):
    watch = watch_of(samples)
    await watch.identify()
    assert watch.findings() == (void, notes)


def counted(at_s, joules):
    return Sample(at_s, HostSample(), (GpuSample(0, "GPU-0", "X", energy_j=joules),), "nvml")


async def test_energy_waits_for_the_sample_after_the_window():
    watch = watch_of([counted(t, 300.0 * t) for t in range(5)])

    async def one_more():
        await asyncio.sleep(0)
        watch._take(counted(5.0, 1500.0))

    found, _ = await asyncio.gather(watch.energy(1.0, 4.5), one_more())
    assert found.joules == pytest.approx(1050.0)


async def test_energy_that_was_not_watched_says_why():
    watch = watch_of([])
    watch._failure = "no agent"
    assert (
        str((await watch.energy(1.0, 9.0)).missing) == "error: the GPUs were not watched: no agent"
    )
