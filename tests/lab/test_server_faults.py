"""Every fault of the server on a practice host: what specctl says of it, and how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from specctl.lab.processes import processes_of
from specctl.lab.up import take_down
from tests.contract.standin import FAST
from tests.lab.practice import Practice, wait_for
from tests.ssh.sshd import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ssh.operator_side import Ran

pytestmark = pytest.mark.timeout(180)

GONE = re.compile(r"Gone: (\d+) of \1 processes, (\d+) of \2 ports")


class Desk:
    """An operator with one practice host whose servers load in no time."""

    def __init__(self, practice: Practice) -> None:
        self.practice, self.port = practice, free_port()
        path = practice.host().folder / "scenario.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "durations": FAST}))

    def start(self, profile: str = "lab-baseline", *options: str) -> Ran:
        return self.practice.run(
            "start", "lab-1", profile, "--yes", "--port", str(self.port), *options
        )

    def server(self) -> dict[str, Any]:
        """The one that is there."""
        found = self.practice.run("status", "lab-1", "--json")
        servers = json.loads(found.out)["hosts"]["lab-1"]["servers"]
        (server,) = [one for one in servers if one["state"] != "crashed"]
        return dict(server)

    def stop(self, *options: str) -> Ran:
        return self.practice.run("stop", "lab-1", "--yes", *options)

    def send(self, **sampling: Any) -> Any:
        from tests.contract.subject import request

        params = {"temperature": 0, "ignore_eos": True, **sampling}
        body = {"text": "Write a function.", "sampling_params": params}
        return request(self.port, "POST", "/generate", body).json

    def clear(self) -> None:
        """Nothing runs, whatever a test left behind."""
        host = self.practice.host()
        for name in host.faults():
            host.clear_fault(name)
        for pid in processes_of(host.folder):
            if is_server(pid):
                os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not any(map(is_server, processes_of(host.folder))))


def is_server(pid: int) -> bool:
    """Whether it was launched, or is the child of what was."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"SPECCTL_LAUNCH=" in file.read()
    except OSError:
        return False


def cmdline(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def shared_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    practice = Practice(tmp_path_factory.mktemp("desk"))
    practice.up("--hosts", "1")
    try:
        yield Desk(practice)
    finally:
        take_down(practice.lab)


@pytest.fixture
def desk(shared_desk: Desk) -> Iterator[Desk]:
    yield shared_desk
    shared_desk.clear()


# ---------------------------------------------------- starts
@pytest.mark.parametrize("how", ["oom", "exit-0"])
def test_out_of_memory_at_capture_is_named_whatever_the_status(desk: Desk, how: str) -> None:
    with desk.practice.fault("crash-at-capture", f"how={how}"):
        ran = desk.start()
    assert ran.status == 1
    assert "GPU memory ran out while capturing the target's graphs" in ran.err
    assert "hint: Lower --cuda-graph-max-bs-decode" in ran.err


def test_a_silent_kill_is_said_to_have_no_cause_in_the_log(desk: Desk) -> None:
    with desk.practice.fault("crash-at-capture", "how=exit-137"):
        ran = desk.start()
    assert ran.status == 1
    assert "it was killed (SIGKILL) and its log gives no cause" in ran.err


def test_slow_weights_are_shown_as_they_load(desk: Desk) -> None:
    with desk.practice.fault("slow-weights", "seconds=6"):
        ran = desk.start()
    assert ran.status == 0
    shown = [int(done) for done in re.findall(r"weights (\d+)/62", ran.err)]
    assert shown == sorted(shown)
    assert len(shown) > 4
    assert GONE.search(desk.stop().out)


def test_a_hang_at_warm_up_is_no_crash(desk: Desk) -> None:
    with desk.practice.fault("hang-at-warmup"):
        assert desk.start("lab-baseline", "--no-wait").status == 0
        wait_for(lambda: "warm-up" in desk.practice.run("status", "lab-1").out)
        assert desk.server()["state"] == "starting"
    wait_for(lambda: desk.server()["state"] == "ready")


def test_a_port_clash_is_told_from_a_crash_and_can_be_stopped(desk: Desk) -> None:
    with desk.practice.fault("port-clash"):
        ran = desk.start()
    assert ran.status == 1
    assert "its port is taken" in ran.err
    assert "hint: It hangs. specctl stop lab-1/" in ran.err
    assert GONE.search(desk.stop().out)


# ---------------------------------------------------- stops
@pytest.mark.parametrize("fault", ["ignores-sigterm", "drains-for-ever"])
def test_what_does_not_end_is_killed_and_gone(desk: Desk, fault: str) -> None:
    assert desk.start().status == 0
    with desk.practice.fault(fault):
        ran = desk.stop("--now")
    assert ran.status == 0
    assert "SIGKILL sent to" in ran.err
    assert GONE.search(ran.out)


def test_an_orphan_is_found_named_and_taken_along(desk: Desk) -> None:
    with desk.practice.fault("orphan-scheduler"):
        assert desk.start().status == 0
        ran = desk.stop("--now")
        assert ran.status == 0, ran.err
        assert GONE.search(ran.out)
        assert not [pid for pid in processes_of(desk.practice.host().folder)
                    if b"sglang::" in cmdline(pid)]  # fmt: skip


def test_a_server_without_its_title_is_still_known(desk: Desk) -> None:
    with desk.practice.fault("renamed-process"):
        assert desk.start().status == 0
        assert desk.server()["state"] == "ready"
        assert GONE.search(desk.stop().out)


# ---------------------------------------------------- answers
def test_metrics_that_stand_still_make_no_rate(desk: Desk) -> None:
    assert desk.start().status == 0
    with desk.practice.fault("stale-metrics"):
        desk.practice.run("status", "lab-1")
        desk.send(max_new_tokens=100)
        ran = desk.practice.run("status", "lab-1")
    assert desk.server()["state"] == "ready"
    (row,) = [line for line in ran.out.splitlines() if "lab-baseline" in line]
    assert re.search(r"root +(?:0\.0|—) ", row), row


def test_a_server_that_wants_a_key_is_said_to(desk: Desk) -> None:
    assert desk.start().status == 0
    with desk.practice.fault("unauthorized"):
        ran = desk.practice.run("probe", "lab-1", "--workload", "chat")
    assert ran.status != 0
    assert "401" in ran.err
    assert "key" in ran.err


def test_no_key_of_server_info_reaches_a_screen(desk: Desk) -> None:
    assert desk.start().status == 0
    with desk.practice.fault("keys-in-server-info"):
        shown = [desk.practice.run("status", "lab-1", *options) for options in ((), ("--json",))]
        support = desk.practice.run("logs", "lab-1")
    for ran in (*shown, support):
        assert "simulated-0123456789" not in ran.out + ran.err
        assert "simulated-password" not in ran.out + ran.err


def test_a_drafter_that_is_not_wired_is_suspected(desk: Desk) -> None:
    with desk.practice.fault("accept-length-one"):
        assert desk.start("lab-eagle3-trained").status == 0
        found = probe(desk, "lab-1")
    assert found["accept_length"] == 1.0
    words = " ".join((*map(str, found["void"]), *map(str, found["notes"])))
    assert "not wired" in words or "1.00" in words, words


def test_a_loop_voids_what_was_measured(desk: Desk) -> None:
    assert desk.start("lab-eagle3-trained").status == 0
    with desk.practice.fault("garbage-output"):
        found = probe(desk, "lab-1")
    words = " ".join((*map(str, found["void"]), *map(str, found["notes"])))
    assert "a loop of" in words, words


def probe(desk: Desk, server: str) -> dict[str, Any]:
    path = desk.practice.home / "short.jsonl"
    lines = [{"prompt": f"Write function {n}.", "max_tokens": 160} for n in range(4)]
    path.write_text("\n".join(map(json.dumps, lines)))
    ran = desk.practice.run("probe", server, "--workload", str(path), "--json")
    assert ran.out, ran.err
    return dict(json.loads(ran.out))


# ---------------------------------------------------- logs
def test_a_hostile_log_does_no_harm(desk: Desk) -> None:
    with desk.practice.fault("hostile-log"):
        assert desk.start().status == 0
        for _ in range(3):
            desk.send(max_new_tokens=60)
        ran = desk.practice.run("logs", "lab-1")
    assert ran.status == 0
    assert "\033" not in ran.out
    assert max(map(len, ran.out.splitlines())) < 70_000
    assert desk.server()["state"] == "ready"


def test_a_log_that_was_replaced_is_read_on(desk: Desk) -> None:
    assert desk.start().status == 0
    with desk.practice.fault("log-rotated"):
        time.sleep(1.0)
        desk.send(max_new_tokens=60)
        ran = desk.practice.run("logs", "lab-1")
    assert "Decode batch" in ran.out
    assert desk.server()["state"] == "ready"
    assert GONE.search(desk.stop().out)
