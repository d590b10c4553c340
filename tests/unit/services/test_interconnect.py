"""What is in the way of measuring all-reduces, and what is read of the answer."""

from __future__ import annotations

import pytest

from specctl.domain.interconnect import UNEXERCISED
from specctl.domain.sample import GpuProcess, GpuSample, HostSample, Sample
from specctl.domain.server import Server, ServerState
from specctl.services.host_reading import HostReading
from specctl.services.interconnect import ReducePlan, _in_the_way, _read


def reading(*servers, processes=()):
    gpus = (GpuSample(0, "GPU-a", "g", processes=tuple(processes)), GpuSample(1, "GPU-b", "g"))
    sample = Sample(0.0, HostSample(), gpus, "nvml")
    return HostReading(sample, (), (), servers)


def server(gpus=(0, 1), pids=(42,)):
    return Server(
        name="5c0f", state=ServerState.READY, identity=None, is_ours=True, gpus=gpus, pids=pids,
        profile="eagle3",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("found", "gpus", "words"),
    [
        (reading(server()), (0, 1), "5c0f (eagle3) runs there"),
        (reading(server((1,))), (0, 1), "5c0f"),
        (reading(server(())), (0, 1), "5c0f"),
        (reading(server()), None, "5c0f"),
        (reading(processes=[GpuProcess(7, 1, "compute", "u", "python")]), (0, 1), "GPU 0: 7"),
        (reading(), (0,), "2 ranks need 2 GPUs"),
    ],
)
def test_whatever_uses_those_gpus_is_in_the_way(found, gpus, words):
    assert words in _in_the_way(found, gpus, 2)[0]


@pytest.mark.parametrize(
    ("found", "gpus"),
    [
        (reading(), (0, 1)),
        (reading(server(pids=())), (0, 1)),
        (reading(), None),
    ],
)
def test_what_does_not_is_not(found, gpus):
    assert _in_the_way(found, gpus, 2) == ()
    assert _in_the_way(reading(server((0,))), (1,), 1) == ()


@pytest.mark.parametrize(("backend", "gpus"), [("gloo", None), ("nccl", (0, 1))])
def test_a_step_holds_two_for_each_layer(backend, gpus):
    plan = ReducePlan("h", backend, 2, gpus, 4096, 32, "bfloat16", (1, 8), ())
    found = _read({"times_s": [[2e-5, 1e-5], [4e-5, 3e-5]], "torch": "2.9"}, plan)
    assert found.sizes[1].message_bytes == 8 * 4096 * 2
    assert found.sizes[0].per_step_s == pytest.approx(64 * 2e-5)
    assert found.notes == ((UNEXERCISED,) if backend == "nccl" else ())
    assert "2 x 32 of them make a step" in plan.words
