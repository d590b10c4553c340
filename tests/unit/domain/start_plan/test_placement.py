"""GPUs, instances and ports that a server takes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.command import parse_argv, server_argv
from specctl.domain.plan import Level
from specctl.domain.preflight import (
    StartOptions,
)
from specctl.domain.profile import Placement
from specctl.domain.proof import GIB, PortHolder
from specctl.domain.sample import GpuProcess, MigDevice
from specctl.domain.start_plan import derived_ports, wanted_gpus
from tests.unit.domain.start_plan.readings import (
    OURS,
    PROFILE,
    READING,
    check,
    gpu,
    plan,
    sample,
)


def instance(name, used_bytes=2**20):
    return MigDevice(f"MIG-{name}", "MIG 3g.40gb", 40 * GIB, used_bytes)


SPLIT = sample(gpu(0, mig=True, mig_devices=(instance("1"), instance("2", 30 * GIB))), gpu(1))


@pytest.mark.parametrize(
    ("visible", "arguments", "level", "words"),
    [
        ("MIG-1", {}, Level.PASS, "MIG 3g.40gb MIG-1 of GPU 0, 40.0 GiB"),
        ("MIG-2", {}, Level.WARN, "has 30.0 GiB in use"),
        ("MIG-9", {}, Level.REFUSE, "MIG-9 does not exist; the host has MIG-1, MIG-2"),
        ("MIG-1,MIG-2", {"tp-size": 2}, Level.REFUSE, "CUDA shows a server one MIG instance"),
        ("0", {}, Level.REFUSE, "and none of them is named"),
    ],
)
def test_b07_a_server_is_put_on_an_instance_by_its_uuid(visible, arguments, level, words):
    named = {"CUDA_VISIBLE_DEVICES": visible}
    profile = replace(
        PROFILE, arguments=arguments, environment=named, placement=Placement(None, 30000)
    )
    found = plan(profile, replace(READING, sample=SPLIT))
    gpus = check(found, "gpus")
    assert (gpus.level, words in gpus.words) == (level, True), gpus
    assert found.environment["CUDA_VISIBLE_DEVICES"] == visible


def test_b07_replacing_spares_the_other_instances_of_the_gpu():
    neighbour = replace(OURS, gpus=(0,), port=39999)
    named = {"CUDA_VISIBLE_DEVICES": "MIG-1"}
    profile = replace(PROFILE, arguments={}, environment=named, placement=Placement(None, 30000))
    reading = replace(READING, sample=SPLIT, servers=(neighbour,))
    assert plan(profile, reading, StartOptions(replace=True)).stops == ()


def test_gpus_and_port_of_the_command_win():
    options = StartOptions(gpus=(6, 4), port=31000)
    found = plan(replace(PROFILE, arguments={"tp-size": 2}), options=options)
    assert found.gpus == (6, 4)
    assert found.ports[0] == 31000
    assert found.environment["CUDA_VISIBLE_DEVICES"] == "6,4"
    assert found.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert found.argv[-2:] == ("--port", "31000")


def test_base_gpu_id_counts_among_the_visible():
    profile = replace(PROFILE, arguments={"tp-size": 2, "base-gpu-id": 1})
    assert plan(profile, options=StartOptions(gpus=(4, 5, 6))).gpus == (5, 6)


@pytest.mark.parametrize(
    ("arguments", "count"),
    [
        ({"tp-size": 2}, 2),
        ({"tp-size": 2, "dp-size": 2}, 4),
        ({"tp-size": 4, "dp-size": 4, "enable-dp-attention": True}, 4),
        ({"tp-size": 2, "pp-size": 2}, 4),
        ({"device": "cpu"}, 0),
        ({}, 1),
    ],
)
def test_gpus_that_a_server_takes(arguments, count):
    assert len(plan(replace(PROFILE, arguments=arguments)).gpus or ()) == count


@pytest.mark.parametrize(
    ("arguments", "port", "ports"),
    [
        ({}, 30000, (30000,)),
        ({"dp-size": 2}, 30000, (30000,)),
        ({"dp-size": 2, "enable-dp-attention": True}, 30000, (30000, *range(30233, 30241))),
        ({"dp-size": 2, "enable-dp-attention": True}, 65400, (65400, *range(65167, 65175))),
        ({"nccl-port": 29500}, 30000, (30000, 29500)),
    ],
)
def test_ports_that_sglang_derives(arguments, port, ports):
    profile = replace(PROFILE, arguments=arguments)
    argv = server_argv(profile, python=("python",), port=port)
    assert derived_ports(parse_argv(argv), port) == ports


def test_a_taken_port_comes_with_a_free_one():
    taken = {30000: PortHolder(5), 30001: PortHolder(6), 30002: None}
    assert check(plan(reading=replace(READING, ports=taken)), "ports").next_step == (
        "--port 30002 is free."
    )


def test_free_gpus_are_suggested():
    busy = GpuProcess(9, 90 * GIB, "compute", "kb", "python")
    gpus = sample(*(gpu(n, *([busy] if n < 2 else [])) for n in range(8)))
    found = plan(replace(PROFILE, arguments={"tp-size": 2}), replace(READING, sample=gpus))
    assert check(found, "gpus").next_step == "Free: --gpus 2,3"


def test_small_holders_are_not_in_the_way():
    monitor = GpuProcess(9, 20 * 1024**2, "compute", "root", "dcgm")
    desktop = GpuProcess(8, None, "graphics", "root", "Xorg")
    gpus = sample(*(gpu(n, monitor, desktop) for n in range(8)))
    assert check(plan(reading=replace(READING, sample=gpus)), "gpus").level is Level.PASS


@pytest.mark.parametrize(
    ("visible", "gpus"),
    [
        (None, None), ("", ()), ("0, 2", (0, 2)), ("GPU-7a", None), ("²", None), ("٣", None),
        ("9" * 5000, None), ("0,-1", None),
    ],
)  # fmt: skip
def test_gpus_of_the_environment_are_those_it_counts(visible, gpus):
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    assert wanted_gpus(replace(PROFILE, placement=Placement()), environment) == gpus
