from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from specctl.agent.oneshot import proc, signaller
from tests.unit.oneshot.conftest import is_alive, run_oneshot, wait_until

SERVER = """
    import ctypes, os, signal, sys, time
    def child(title, forget):
        if os.fork() == 0:
            if forget:
                os.setsid()
            open('/proc/self/comm', 'w').write(title)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            print(title, os.getpid(), flush=True)
            time.sleep(60)
    child('scheduler_TP0', False)
    child('scheduler_TP1', True)
    time.sleep(60)
"""
"""Two schedulers that ignore SIGTERM and renamed themselves, one in a session of its own."""


def children_in(answer, count=2):
    path = Path(answer["log_path"])

    def read():
        rows = [line.split() for line in path.read_text().splitlines() if "scheduler" in line]
        return {row[0]: int(row[1]) for row in rows} if len(rows) == count else None

    return wait_until(read)


def look(answer, **request):
    asked = {"target": answer["identity"], "action": "look", **request}
    return run_oneshot("signaller", asked)


def pids(answer):
    return {member["identity"]["pid"] for member in answer["members"]}


def test_a16_renamed_and_reparented_schedulers_are_found(launches):
    answer = launches(SERVER)
    children = children_in(answer)
    main = answer["identity"]["pid"]
    assert pids(look(answer)) == {main, *children.values()}
    os.kill(main, signal.SIGKILL)
    wait_until(lambda: not is_alive(main))
    found = look(answer)
    assert pids(found) == set(children.values())
    assert {member["title"] for member in found["members"]} == set(children)


def test_sigterm_goes_to_the_main_process_only(launches):
    answer = launches(SERVER)
    children = children_in(answer)
    asked = {"target": answer["identity"], "action": "main", "uid": os.getuid()}
    sent = run_oneshot("signaller", asked)
    main = answer["identity"]["pid"]
    assert sent["signalled"] == [{"pid": main, "signal": "SIGTERM"}]
    wait_until(lambda: not is_alive(main))
    assert all(is_alive(pid) for pid in children.values())
    again = run_oneshot("signaller", asked)
    assert again["signalled"] == []
    assert again["refused"] == [{"pid": main, "why": "it has ended"}]
    for pid in children.values():
        os.kill(pid, signal.SIGKILL)


def test_sigkill_ends_every_member_and_nothing_else(launches):
    stranger = subprocess.Popen(["sleep", "60"])
    answer = launches(SERVER)
    children = children_in(answer)
    asked = {"target": answer["identity"], "action": "members", "uid": os.getuid()}
    sent = run_oneshot("signaller", asked)
    everyone = {answer["identity"]["pid"], *children.values()}
    assert {row["pid"] for row in sent["signalled"]} == everyone
    assert {row["signal"] for row in sent["signalled"]} == {"SIGKILL"}
    wait_until(lambda: not any(is_alive(pid) for pid in everyone))
    assert look(answer)["members"] == []
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"boot_id": "another"}, "the host was restarted since"),
        ({"start_ticks": 1}, "its pid now belongs to another process"),
        ({"marker": "00000000"}, "its environment names another launch"),
        ({"pid": 2**22 - 1}, "it has ended"),
    ],
)
@pytest.mark.parametrize("action", ["main"])
def test_pid_reuse_and_reboot_are_refused(launches, change, why, action):
    answer = launches("import time; time.sleep(60)")
    asked = {"target": {**answer["identity"], **change}, "action": action}
    sent = run_oneshot("signaller", asked)
    assert sent["signalled"] == []
    assert why in sent["refused"][0]["why"]
    assert is_alive(answer["identity"]["pid"])


@pytest.mark.parametrize("change", [{"boot_id": "another"}, {"start_ticks": 1, "marker": "none"}])
def test_group_whose_number_was_taken_over_is_not_ours(launches, change):
    answer = launches("import os, time; os.fork(); time.sleep(60)")
    asked = {"target": {**answer["identity"], **change}, "action": "members"}
    assert run_oneshot("signaller", asked)["signalled"] == []
    assert is_alive(answer["identity"]["pid"])


def test_group_of_an_adopted_server_that_leads_none_is_left_alone():
    # Started by a script without job control: the group is the script's.
    script = textwrap.dedent(
        """
        import subprocess, sys, time
        server = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])
        print(server.pid, flush=True)
        time.sleep(60)
        """
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, start_new_session=True
    )
    assert parent.stdout is not None
    stat = proc.read_stat(int(parent.stdout.readline()))
    assert stat is not None
    target = proc.identity(stat, "")
    sent = run_oneshot("signaller", {"target": target, "action": "members"})
    assert [row["pid"] for row in sent["signalled"]] == [stat.pid]
    assert parent.poll() is None
    parent.kill()
    parent.wait()
    parent.stdout.close()


def test_known_members_count_while_their_start_time_is_the_same(launches):
    answer = launches(SERVER)
    children = children_in(answer)
    stat = proc.read_stat(children["scheduler_TP1"])
    assert stat is not None
    bare = {**answer["identity"], "marker": ""}
    known = [proc.identity(stat, "")]
    os.kill(bare["pid"], signal.SIGKILL)
    wait_until(lambda: not is_alive(bare["pid"]))
    assert pids(look({**answer, "identity": bare})) == {children["scheduler_TP0"]}
    assert pids(look({**answer, "identity": bare}, known=known)) == set(children.values())
    reused = [{**known[0], "start_ticks": stat.start_ticks - 1}]
    assert stat.pid not in pids(look({**answer, "identity": bare}, known=reused))
    for pid in children.values():
        os.kill(pid, signal.SIGKILL)


def test_e05_processes_of_another_user_are_refused(launches):
    # The server drops to another user after launch: the survivor is named, never signalled.
    answer = launches(
        """
        import os, time
        if os.fork() == 0:
            os.setuid(65534)
            print('scheduler_TP0', os.getpid(), flush=True)
            time.sleep(60)
        time.sleep(60)
        """
    )
    (survivor,) = children_in(answer, 1).values()
    asked = {"target": answer["identity"], "action": "members", "uid": 0}
    sent = run_oneshot("signaller", asked)
    assert sent["refused"] == [{"pid": survivor, "why": "it runs as uid 65534, not 0"}]
    assert is_alive(survivor)
    os.kill(survivor, signal.SIGKILL)


def test_an_ordinary_user_cannot_signal_anothers_server(launches):
    answer = launches("import time; time.sleep(60)")
    prefix = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    sent = run_oneshot(
        "signaller",
        {"target": answer["identity"], "action": "main"},
        prefix=prefix,
        python="/usr/bin/python3",
    )
    assert sent["refused"] == [{"pid": answer["identity"]["pid"], "why": "Operation not permitted"}]
    assert is_alive(answer["identity"]["pid"])


def test_a_zombie_counts_as_ended():
    child = subprocess.Popen(["true"])
    wait_until(lambda: not is_alive(child.pid))
    stat = proc.read_stat(child.pid)
    assert stat is not None
    assert stat.is_zombie
    assert signaller.send(child.pid, stat.start_ticks, signal.SIGTERM) == "it has ended"
    assert proc.find_members(proc.identity(stat, ""), []) == []
    child.wait()


@pytest.mark.parametrize("pid", [0, 1, -1])
def test_some_pids_are_never_signalled(pid):
    assert signaller.send(pid, 0, signal.SIGTERM) == "that pid is never signalled"


def test_without_pidfd_the_start_time_is_still_checked(monkeypatch):
    monkeypatch.delattr(os, "pidfd_open")
    child = subprocess.Popen(["sleep", "60"])
    stat = proc.read_stat(child.pid)
    assert stat is not None
    assert "another process" in signaller.send(child.pid, stat.start_ticks - 1, signal.SIGTERM)
    assert signaller.send(child.pid, stat.start_ticks, signal.SIGTERM) == ""
    assert child.wait() == -signal.SIGTERM


@pytest.mark.parametrize("title", ["a) S 1 1 1", "((", "sglang::scheduler_TP0", "x\ny"])
def test_titles_do_not_shift_the_fields(title):
    rest = "S 1 7 8 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4711 0"
    stat = proc.Stat(42, f"42 ({title}) {rest}")
    assert (stat.title, stat.ppid, stat.pgid, stat.sid, stat.start_ticks) == (title, 1, 7, 8, 4711)
