"""Processes made into servers: by their command line, their titles, or their launch's marker."""

from __future__ import annotations

from specctl.domain.server import Identity, ServerProcess
from specctl.facts.members import families

MAIN = ("python", "-m", "sglang.launch_server", "--model-path", "m")


def process(
    pid: int, *argv: str, ppid: int = 1, sid: int | None = None, marker: str = ""
) -> ServerProcess:
    sid = pid if sid is None else sid
    identity = Identity("boot", pid, pid * 10, sid, sid, marker)
    return ServerProcess(identity, ppid, 1000, "op", argv, argv[0])


def pids(*processes: ServerProcess) -> list[list[int]]:
    return [[p.identity.pid for p in family.processes] for family in families(processes)]


def test_a_main_process_has_its_children() -> None:
    child = process(11, "sglang::scheduler", ppid=10, sid=10, marker="a")
    assert pids(process(10, *MAIN, marker="a"), child) == [[10, 11]]


def test_a_launch_under_another_name_is_told_by_its_marker() -> None:
    leader = process(20, "python", "-m", "http.worker", marker="b")
    child = process(21, "worker", ppid=20, sid=20, marker="b")
    (family,) = families((leader, child))
    assert family.main == leader
    assert pids(leader, child) == [[20, 21]]


def test_what_inherited_a_marker_is_no_server() -> None:
    assert pids(process(31, "python", "-c", "resource tracker", sid=30, marker="c")) == []
    shell = process(32, "bash", sid=32)
    assert pids(shell) == []


def test_a_named_server_is_not_told_twice() -> None:
    wrapper = process(40, "timeout", "9", *MAIN, marker="d")
    main = process(41, *MAIN, ppid=40, sid=40, marker="d")
    assert pids(wrapper, main) == [[41]]
