"""What is wrong with a host's shell, disk and clock: what specctl says, and what it does then."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from specctl.services.adding import look_over

if TYPE_CHECKING:
    from tests.lab.practice import Practice

DIFFERENT = {
    "fish-shell": "/usr/bin/fish",
    "csh-shell": "csh",
    "noisy-rc": "bash",
}


def doctor(practice: Practice, host: str = "lab-1") -> tuple[int, dict[str, str]]:
    """The exit status, and name to level and words of each row.

    Ports are this machine's: another test's server may listen on one.
    """
    ran = practice.run("doctor", host)
    rows = {}
    for line in ran.out.splitlines():
        words = line.split()
        if words and words[0] in {"PASS", "WARN", "FAIL"} and words[1] != "ports":
            rows[words[1]] = " ".join([words[0], *words[2:]])
    return ran.status, rows


@pytest.mark.parametrize("fault", ["fish-shell", "csh-shell", "noisy-rc"])
def test_c04_whatever_the_login_shell_says_and_is_everything_is_found(practice, fault):
    with practice.fault(fault):
        status, rows = doctor(practice)
    assert status == 0, rows
    assert DIFFERENT[fault] in rows["shell"]
    assert rows["sglang"].startswith("PASS 0.5.23")


def test_c04_shells_that_print_are_no_matter_either(practice):
    for fault in ("fish-shell", "csh-shell"):
        with practice.fault(fault), practice.fault("noisy-rc"):
            ran = practice.run("status", "lab-1")
        assert ran.status == 0, ran.err
        assert "8 × NVIDIA RTX PRO 6000" in ran.out
        assert "Welcome" not in ran.out + ran.err


def test_noise_goes_with_its_fault_and_takes_no_file_of_the_user(practice):
    own = practice.host().home / ".bashrc"
    own.write_text("export MINE=1\n")
    try:
        with practice.fault("noisy-rc"):
            practice.run("status", "lab-1")
        practice.run("status", "lab-1")
        assert own.read_text() == "export MINE=1\n"
        assert not (practice.host().home / ".cshrc").exists()
    finally:
        own.unlink()


async def test_c06_the_python_with_sglang_is_found_though_no_path_leads_to_it(practice):
    told = practice.on_host("python3 -c 'import sglang' 2>&1; command -v sglang").communicate()[0]
    assert b"No module named 'sglang'" in told
    host = replace(practice.workspace.host("lab-1"), python=None)
    found = await look_over(host)
    assert str(found.host.python).startswith(f"{practice.host().home}/venv/bin/python")
    assert any("0.5.23" in row.words for row in found.rows if row.name == "sglang")


def test_without_python_it_says_what_to_do(practice):
    with practice.fault("no-python"):
        status, rows = doctor(practice)
    assert status == 2
    assert "there is no such command for a non-interactive shell" in rows["connect"]
    assert doctor(practice)[0] == 0


def test_c12_a_home_that_cannot_be_written_to_costs_a_warning(practice):
    before = sorted(practice.host().home.rglob("*"))
    with practice.fault("read-only-home"):
        status, rows = doctor(practice)
        assert sorted(practice.host().home.rglob("*")) == before
    assert status == 1
    assert rows["state"].startswith("WARN /var/tmp/specctl-")
    assert "Read-only file system (EROFS)" in rows["state"]


def test_c12_a_full_disk_costs_a_warning_and_memory_is_used(practice):
    with practice.fault("full-disk"):
        status, rows = doctor(practice)
    assert status == 1
    assert rows["state"].startswith("WARN /dev/shm/specctl-")
    assert "No space left on device (ENOSPC)" in rows["state"]


def test_c12_what_is_written_elsewhere_is_the_hosts_own(practice):
    made = practice.on_host("mkdir /var/tmp/specctl-test /dev/shm/specctl-test && echo made")
    assert made.communicate()[0] == b"made\n"
    seen = practice.on_host("ls -d /var/tmp/specctl-test 2>&1", "lab-2").communicate()[0]
    assert b"No such file" in seen
    assert not Path("/var/tmp/specctl-test").exists()
    assert (practice.host().folder / "tmp/dev/shm/specctl-test").is_dir()


def test_a_wrong_clock_fails_the_check_and_nothing_else(practice):
    with practice.fault("clock-skew", "seconds=-1800"):
        status, rows = doctor(practice)
        shown = practice.run("status", "lab-1")
    assert status == 2
    assert rows["clock"].startswith("FAIL 1800.")
    assert "behind" in rows["clock"]
    assert [name for name, words in rows.items() if words.startswith("FAIL")] == ["clock"]
    assert shown.status == 0
    assert "8 × NVIDIA" in shown.out


def test_faults_add_up(practice):
    faults = ("noisy-rc", "fish-shell", "read-only-home", "clock-skew")
    with ExitStack() as stack:
        for name in faults:
            stack.enter_context(practice.fault(name))
        listed = practice.run("lab", "status").out
        status, rows = doctor(practice)
    assert all(name in listed for name in faults)
    assert status == 2
    assert {name for name, words in rows.items() if not words.startswith("PASS")} == {
        "state",
        "clock",
    }


def test_a_fault_begins_when_it_is_said_to(practice):
    assert practice.run("lab", "fault", "no-python", "--host", "lab-2", "--after", "2").status == 0
    assert practice.host("lab-2").fault("no-python") is None

    async def begun() -> None:
        while practice.host("lab-2").fault("no-python") is None:
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(begun(), 10))
    assert practice.run("lab", "fault", "no-python", "--host", "lab-2", "--off").status == 0
    assert practice.host("lab-2").faults() == {}
