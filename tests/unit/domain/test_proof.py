from __future__ import annotations

from dataclasses import replace

import pytest

from specctl.domain.proof import GIB, Look, Member, PortHolder, gib, prove_gone
from specctl.domain.sample import GpuProcess, GpuSample
from specctl.domain.server import Identity


def member(pid, title="sglang::scheduler_TP0", *, start=100, user="op", uid=1000):
    return Member(Identity("boot", pid, start, 500, 500, "7c1e0000"), title, user, uid)


def gpu(index, *held, used=None):
    """`held` are (pid, GiB)."""
    processes = tuple(
        GpuProcess(pid, None if size is None else int(size * GIB), "compute") for pid, size in held
    )
    return GpuSample(index, f"GPU-{index}", "card", memory_used_bytes=used, processes=processes)


MAIN, TP0, TP1 = member(500, "python"), member(501), member(502, "sglang::scheduler_TP1")
BEFORE = Look(
    members=(MAIN, TP0, TP1),
    ports={30000: PortHolder(500), 30233: PortHolder(501)},
    gpus=(gpu(0, (501, 100)), gpu(1, (502, 98))),
)
GONE = Look(members=(), ports={30000: None, 30233: None}, gpus=(gpu(0), gpu(1)))


def test_gone_says_what_went():
    proof = prove_gone(BEFORE, GONE, elapsed_s=4.2)
    assert proof.gone
    assert proof.words == "Gone: 3 of 3 processes, 2 of 2 ports, 198 GiB of GPU memory, in 4.2 s."
    assert proof.memory_freed_bytes == 198 * GIB
    assert proof.survivors == ()


def test_the_large_server_of_the_story():
    members = tuple(member(1000 + n) for n in range(11))
    gpus = tuple(gpu(n, (1001 + n, 88.875)) for n in range(8))
    ports = {port: PortHolder(1000) for port in (30000, 30233, 30234)}
    before = Look(members, ports, gpus)
    after = Look((), dict.fromkeys(ports), tuple(gpu(n) for n in range(8)))
    assert prove_gone(before, after, elapsed_s=4.2).words == (
        "Gone: 11 of 11 processes, 3 of 3 ports, 711 GiB of GPU memory, in 4.2 s."
    )


def test_survivor_is_named_with_its_owner_and_memory():
    after = replace(GONE, members=(TP1,), gpus=(gpu(0), gpu(1, (502, 98))))
    proof = prove_gone(BEFORE, after)
    assert not proof.gone
    assert proof.words == (
        "Not gone: 2 of 3 processes, 2 of 2 ports, 100 GiB of GPU memory. "
        "Left: pid 502 sglang::scheduler_TP1 (op) holds 98.0 GiB on GPU 1."
    )
    assert [s.pid for s in proof.survivors] == [502]


def test_survivor_of_another_user():
    other = member(502, user="root", uid=0)
    proof = prove_gone(BEFORE, replace(GONE, members=(other,)))
    assert [(s.pid, s.user) for s in proof.survivors] == [(502, "root")]
    assert "(root)" in proof.words


def test_another_server_that_shares_the_gpu_is_not_in_the_way():
    neighbour = (9000, 40)
    before = replace(BEFORE, gpus=(gpu(0, (501, 50), neighbour), gpu(1, (502, 98))))
    after = replace(GONE, gpus=(gpu(0, neighbour), gpu(1)))
    proof = prove_gone(before, after)
    assert proof.gone
    assert proof.memory_freed_bytes == 148 * GIB


def test_memory_that_is_released_late_is_waited_for():
    late = replace(GONE, gpus=(gpu(0, (501, 100)), gpu(1)))
    proof = prove_gone(BEFORE, late)
    assert not proof.gone
    assert "pid 501 has ended, 100 GiB of GPU 0 is not yet released" in proof.words
    assert prove_gone(BEFORE, GONE).gone


def test_reused_pid_that_uses_the_gpu_is_somebody_else():
    after = replace(GONE, gpus=(gpu(0, (501, 12)), gpu(1)), other_starts={501: 99999})
    proof = prove_gone(BEFORE, after)
    assert proof.gone
    assert proof.memory_freed_bytes == 198 * GIB


def test_pids_of_another_namespace_prove_nothing_about_memory():
    before = replace(
        BEFORE, gpus=(gpu(0, (77001, 100), used=100 * GIB),), are_pids_comparable=False
    )
    after = replace(GONE, gpus=(gpu(0, (501, 3), used=3 * GIB),), are_pids_comparable=False)
    proof = prove_gone(before, after)
    assert proof.gone
    assert proof.memory_freed_bytes is None
    assert "GPU memory" not in proof.words
    assert proof.notes == (
        "whose GPU memory it is cannot be known: the pids are of another namespace; "
        "in all, 97.0 GiB less is in use",
    )


def test_without_gpus_memory_is_no_part_of_it():
    proof = prove_gone(replace(BEFORE, gpus=None), replace(GONE, gpus=None))
    assert proof.words == "Gone: 3 of 3 processes, 2 of 2 ports."
    assert proof.memory_freed_bytes is None


def test_gpus_that_can_no_longer_be_read_are_told():
    proof = prove_gone(BEFORE, replace(GONE, gpus=None))
    assert proof.gone
    assert proof.memory_freed_bytes is None
    assert proof.notes == ("GPUs cannot be read any more: their memory is not part of the proof",)


def test_unknown_sizes_are_not_summed_as_zero():
    before = replace(BEFORE, gpus=(gpu(0, (501, None)), gpu(1, (502, 98))))
    proof = prove_gone(before, GONE)
    assert proof.gone
    assert proof.memory_freed_bytes is None


@pytest.mark.parametrize(
    ("holder", "gone", "words"),
    [
        (PortHolder(77, 0, "root", "nginx"), True, "pid 77 nginx (root), which is not this server"),
        (PortHolder(None, 0), True, "a process that cannot be seen (uid 0)"),
        (PortHolder(None, 1000), False, "port 30000 is held by a process that cannot be seen"),
        (PortHolder(None), False, "(owner unknown)"),
    ],
)
def test_port_taken_over_by_somebody(holder, gone, words):
    proof = prove_gone(BEFORE, replace(GONE, ports={30000: holder, 30233: None}))
    assert proof.gone is gone
    assert "1 of 2 ports" in proof.words
    assert words in " ".join((proof.words, *proof.notes))


def test_process_found_only_afterwards_is_counted():
    proof = prove_gone(BEFORE, replace(GONE, members=(member(600),)))
    assert "3 of 4 processes" in proof.words
    assert not proof.gone


def test_many_survivors_are_cut_short():
    crowd = tuple(member(pid) for pid in range(600, 620))
    assert "; 12 more." in prove_gone(BEFORE, replace(GONE, members=crowd)).words


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (None, "unknown memory"),
        (711 * GIB, "711 GiB"),
        (int(98.55 * GIB), "98.5 GiB"),
        (0, "0.0 GiB"),
    ],
)
def test_sizes(size, words):
    assert gib(size) == words


def test_same_process_is_told_by_boot_pid_and_start():
    assert TP0.is_same(member(501, "renamed", user="root"))
    assert not TP0.is_same(member(501, start=101))
    assert not TP0.is_same(replace(TP0, identity=replace(TP0.identity, boot_id="next")))


def test_what_cannot_be_seen_on_a_practice_host_may_be_its_neighbours():
    words = str(PortHolder(None, 0, "root", is_shared=True))
    assert words == "a neighbour in the lab, or another process of its machine (root)"
    assert str(PortHolder(7, 0, "root", "nginx", is_shared=True)) == "pid 7 nginx (root)"
