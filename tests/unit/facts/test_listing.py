from __future__ import annotations

from typing import Any

import pytest

from specctl.domain.launch_record import ExitRecord, LaunchRecord
from specctl.domain.missing import Why
from specctl.domain.sample import GpuProcess, GpuSample
from specctl.domain.server import Identity, Milestone, Server, ServerProcess, ServerState
from specctl.facts.listing import group_servers
from specctl.facts.processes import read_processes
from tests.unit.facts.captures import case

BOOT = "boot-1"
PYTHON = "/opt/venv/bin/python"
SERVE = (PYTHON, "-m", "sglang.launch_server", "--model-path", "/models/m", "--port", "31000")


def row(pid: int, ppid: int, argv: tuple[str, ...], **more: Any) -> dict[str, Any]:
    title = argv[0] if argv and argv[0].startswith("sglang::") else "python"
    return {
        "pid": pid, "ppid": ppid, "pgid": 100, "sid": 100, "start_ticks": 10 * pid, "uid": 1000,
        "user": "op", "argv": list(argv), "title": title, "stdout": "/var/log/s.log",
        "stderr": "/var/log/s.log", "listening": [], "environment": {}, "age_s": 60.0,
        "state": "S", **more,
    }  # fmt: skip


def read(*rows: dict[str, Any]) -> tuple[ServerProcess, ...]:
    return read_processes({"boot_id": BOOT, "clock_ticks": 100, "processes": list(rows)})


FAMILY = (
    row(100, 1, SERVE, listening=[31000]),
    row(101, 100, (PYTHON, "-B", "-c", "from multiprocessing.resource_tracker import main")),
    row(102, 100, ("sglang::scheduler_TP0",)),
    row(103, 100, ("sglang::scheduler_TP1",)),
    row(104, 100, ("sglang::detokenizer",)),
)


def record(pid: int = 100, **more: Any) -> LaunchRecord:
    identity = Identity(BOOT, pid, 10 * pid, 100, 100, more.pop("marker", ""))
    values = {"launch_id": "7c1e0001", "profile": "p", "launched_by": "me@laptop", "argv": SERVE}
    return LaunchRecord(identity=identity, **{**values, **more})


def gpu(index: int, *pids: int, name: str | None = "sglang::scheduler") -> GpuSample:
    processes = tuple(GpuProcess(pid, 1, "compute", name=name) for pid in pids)
    return GpuSample(index, f"GPU-{index}", "H200", processes=processes)


def only(servers: tuple[Server, ...]) -> Server:
    (server,) = servers
    return server


def test_a_family_is_one_server() -> None:
    server = only(group_servers(read(*FAMILY), gpus=(gpu(0, 102), gpu(1, 103), gpu(2, 9))))
    assert (server.name, server.owner, server.port, server.model) == (
        "pid-100",
        "op",
        31000,
        "/models/m",
    )
    assert server.gpus == (0, 1)
    assert server.pids == (100, 101, 102, 103, 104)
    assert not server.is_ours
    assert server.log_path == "/var/log/s.log"
    assert server.evidence.port_open is True
    assert server.state is ServerState.FOREIGN


def test_a_server_that_specctl_launched_and_whose_record_is_lost_says_so() -> None:
    marked = {**FAMILY[0], "environment": {"SPECCTL_LAUNCH": "7c1e0000"}}
    server = only(group_servers(read(marked, *FAMILY[1:])))
    assert (server.is_ours, server.state) == (False, ServerState.FOREIGN)
    assert "its launch record is damaged, gone or another user's" in server.why
    known = only(group_servers(read(marked, *FAMILY[1:]), records=(record(),)))
    assert "launch record" not in known.why
    assert "launch record" not in only(group_servers(read(*FAMILY))).why


def test_a_record_with_the_same_identity_makes_it_ours() -> None:
    server = only(group_servers(read(*FAMILY), records=(record(),)))
    assert (server.name, server.is_ours, server.profile) == ("7c1e", True, "p")
    assert server.launched_by == "me@laptop"


@pytest.mark.parametrize(
    "other",
    [
        record(marker="x"),
        LaunchRecord("7c1e0001", Identity("boot-0", 100, 1000, 100, 100, "")),
        LaunchRecord("7c1e0001", Identity(BOOT, 100, 999, 100, 100, "")),
    ],
    ids=["another marker", "another boot", "a reused pid"],
)
def test_a_record_of_another_process_is_not_matched(other: LaunchRecord) -> None:
    rows = [{**FAMILY[0], "environment": {"SPECCTL_LAUNCH": "y"}}, *FAMILY[1:]]
    servers = group_servers(read(*rows), records=(other,))
    assert [server.is_ours for server in servers].count(True) == 1
    ours = next(server for server in servers if server.is_ours)
    assert ours.evidence.process_alive is False


def test_a16_schedulers_without_a_launcher_are_a_server_of_their_owner() -> None:
    rows = []
    for line in case("A16").split("\n"):
        words = line.split()
        if len(words) == 7 and words[-1].startswith("sglang::"):
            user, pid, ppid, pgid, sid, _, title = words
            more = {"pgid": int(pgid), "sid": int(sid), "user": user}
            more["uid"] = 1000 if user == "op" else 2000
            rows.append(row(int(pid), int(ppid), (title,), **more))
    servers = group_servers(read(*rows), gpus=(gpu(0, 2505781), gpu(1, 2509999)))
    assert len(rows) == 3
    assert [(s.owner, s.pids, s.gpus) for s in servers] == [
        ("op", (2505781, 2505790), (0,)),
        ("other", (2509999,), (1,)),
    ]
    for server in servers:
        assert server.state is ServerState.UNKNOWN
        assert not server.is_ours
        assert "live on" in server.why


def test_a16_orphans_with_our_marker_are_ours() -> None:
    marked = {"environment": {"SPECCTL_LAUNCH": "7c1e0001"}, "pgid": 100}
    rows = (row(102, 1, ("sglang::scheduler",), **marked),)
    ended = ExitRecord(None, 9, 1.0)
    server = only(group_servers(read(*rows), records=(record(marker="7c1e0001", exit=ended),)))
    assert server.is_ours
    assert server.state is ServerState.CRASHED
    assert "status 137, 1 of its processes live on" in server.why


def test_e02_later_words_of_the_command_line_win() -> None:
    line = next(line for line in case("E02").split("\n") if "--port 40052" in line)
    assert "state ready on 40052" in line
    argv = (*SERVE[:-2], "--port", "30000", "--port", "40052")
    server = only(group_servers(read(row(100, 1, argv, listening=[40052]))))
    assert (server.port, server.evidence.port_open) == (40052, True)


@pytest.mark.parametrize(
    "wrapper",
    [
        ("timeout", "90", *SERVE),
        ("/usr/bin/sudo", "-u", "op", *SERVE),
        ("/bin/bash", "-c", "python -m sglang.launch_server --model-path /models/m"),
        ("/opt/conda/bin/python", "/opt/conda/bin/conda", "run", "-n", "x", *SERVE),
    ],
    ids=["timeout", "sudo", "shell", "conda run"],
)
def test_wrappers_are_not_servers(wrapper: tuple[str, ...]) -> None:
    rows = (row(90, 1, wrapper), {**FAMILY[0], "ppid": 90}, *FAMILY[1:])
    assert only(group_servers(read(*rows))).pids[0] == 100


def test_a_forked_child_that_has_not_renamed_itself_is_no_second_server() -> None:
    assert len(group_servers(read(*FAMILY, row(105, 100, SERVE)))) == 1


@pytest.mark.parametrize(
    ("argv", "algorithm"),
    [
        (("/opt/venv/bin/sglang", "serve", "/models/m", "--port", "31000"), None),
        (
            (
                PYTHON,
                "/opt/venv/bin/sglang",
                "serve",
                "--model-path",
                "/models/m",
                "--port",
                "31000",
            ),
            None,
        ),
        ((PYTHON, "-u", "-X", "dev", *SERVE[1:], "--speculative-algorithm", "NGRAM"), "NGRAM"),
        ((PYTHON, "/opt/sglang/launch_server.py", *SERVE[3:]), None),
    ],
)
def test_ways_to_start(argv: tuple[str, ...], algorithm: str | None) -> None:
    server = only(group_servers(read(row(100, 1, argv))))
    assert (server.model, server.port, server.algorithm) == ("/models/m", 31000, algorithm)


def test_a_main_process_that_overwrote_its_command_line() -> None:
    rows = (row(100, 1, ("sglang::http_server/tokenizer_manager",), listening=[31000]), *FAMILY[1:])
    server = only(group_servers(read(*rows)))
    assert (server.port, server.model) == (31000, None)
    assert server.missing["model"].why is Why.NOT_SUPPORTED
    ours = only(group_servers(read(*rows), records=(record(model="/models/m"),)))
    assert (ours.model, ours.is_ours) == ("/models/m", True)


def test_the_data_parallel_controller_and_tokenizer_workers_belong_to_it() -> None:
    rows = (
        FAMILY[0],
        row(110, 100, ("sglang::data_parallel_controller",)),
        row(111, 110, ("sglang::scheduler_DP0_TP0",)),
        row(112, 100, ("sglang::tokenizer_worker:112",), listening=[31000]),
    )
    assert only(group_servers(read(*rows))).pids == (100, 110, 111, 112)


def test_one_rank_of_several_hosts() -> None:
    argv = (*SERVE, "--nnodes", "2", "--node-rank", "1", "--dist-init-addr", "192.0.2.1:5000")
    server = only(group_servers(read(row(100, 1, argv))))
    assert (server.is_multi_node, server.node_rank) == (True, 1)


def test_another_users_process_whose_descriptors_cannot_be_read() -> None:
    hidden = {"stdout": None, "stderr": None, "environment": None, "user": "other", "uid": 2000}
    server = only(group_servers(read(row(100, 1, SERVE, **hidden))))
    assert (server.owner, server.evidence.port_open, server.log_path) == ("other", None, None)


def test_a_server_that_is_not_listening_yet() -> None:
    server = only(group_servers(read(row(100, 1, SERVE))))
    assert server.evidence.port_open is False


def test_two_servers_in_the_order_of_their_ports() -> None:
    other = (*SERVE[:-1], "30000")
    rows = (*FAMILY, row(200, 1, other, pgid=200, sid=200), row(201, 200, ("sglang::scheduler",)))
    assert [server.port for server in group_servers(read(*rows))] == [30000, 31000]


@pytest.mark.parametrize(
    ("gpus", "argv", "environment", "expected", "why"),
    [
        (None, SERVE, {}, None, Why.NOT_YET),
        ((gpu(0, 9),), SERVE, {}, None, Why.NO_WINDOW),
        ((gpu(0, 9, name=None),), SERVE, {}, None, Why.OTHER_NAMESPACE),
        ((), (*SERVE, "--device", "cpu"), {}, (), None),
        ((), (*SERVE, "--tp", "2"), {"CUDA_VISIBLE_DEVICES": "4,5,6"}, (4, 5), None),
        ((), (*SERVE, "--base-gpu-id", "1"), {"CUDA_VISIBLE_DEVICES": "4,5,6"}, (5,), None),
        ((), (*SERVE, "--tp", "4"), {"CUDA_VISIBLE_DEVICES": "4,5"}, None, Why.NO_WINDOW),
        ((), SERVE, {"CUDA_VISIBLE_DEVICES": "GPU-8f2"}, None, Why.NO_WINDOW),
    ],
)
def test_where_no_process_holds_a_gpu(
    gpus: tuple[GpuSample, ...] | None,
    argv: tuple[str, ...],
    environment: dict[str, str],
    expected: tuple[int, ...] | None,
    why: Why | None,
) -> None:
    processes = read(row(100, 1, argv, environment=environment))
    server = only(group_servers(processes, gpus=gpus))
    assert server.gpus == expected
    assert (server.missing["gpus"].why if "gpus" in server.missing else None) is why


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({"exit": ExitRecord(0, None, 1.0)}, ServerState.CRASHED),
        ({"exit": ExitRecord(0, None, 1.0), "stop_asked_at_s": 0.5}, ServerState.ABSENT),
        ({"reached": ((Milestone.READY, 9.0),)}, ServerState.CRASHED),
    ],
    ids=["exit 0 unasked", "stopped", "gone without a trace"],
)
def test_a_record_whose_process_is_gone(more: dict[str, Any], state: ServerState) -> None:
    server = only(group_servers((), records=(record(**more),)))
    assert (server.name, server.state, server.is_ours) == ("7c1e", state, True)
    assert (server.port, server.model) == (None, "/models/m")


def test_names_stay_unique() -> None:
    twins = (record(), record(900, launch_id="7c1e0002"))
    assert {s.name for s in group_servers((), records=twins)} == {"7c1e0001", "7c1e0002"}


def test_one_that_runs_keeps_its_short_name() -> None:
    ended = record(900, launch_id="7c1e0002")
    servers = group_servers(read(*FAMILY), records=(record(), ended))
    assert [s.name for s in servers] == ["7c1e", "7c1e0002"]


def test_a_process_that_lost_its_parent_stays_with_its_launch() -> None:
    marker = {"environment": {"SPECCTL_LAUNCH": "7c1e0001"}}
    lost = {**FAMILY[2], **marker, "ppid": 1}
    servers = group_servers(
        read({**FAMILY[0], **marker}, lost), records=(record(marker="7c1e0001"),)
    )
    assert only(servers).pids == (100, 102)
    assert only(servers).name == "7c1e"


def test_a_frozen_scheduler_is_seen_in_proc() -> None:
    rows = (FAMILY[0], {**FAMILY[2], "state": "T"})
    assert only(group_servers(read(*rows))).state is ServerState.STALLED


def test_no_secret_gets_past_the_reader() -> None:
    argv = (*SERVE, "--api-key", "SENTINEL-1")
    rows = (
        row(100, 1, argv, environment={"HF_TOKEN": "SENTINEL-2"}, title="x --api-key SENTINEL-3"),
    )
    assert "SENTINEL" not in repr(group_servers(read(*rows))) + repr(read(*rows))


def test_rows_that_are_no_processes_are_left_out() -> None:
    assert read({"pid": "x"}, {}) == ()
    assert read_processes({"processes": [None, 3, {"pid": 1}]}) == ()


def test_a_loop_of_parents_ends() -> None:
    rows = (row(100, 101, SERVE), row(101, 100, ("sglang::scheduler",)))
    assert only(group_servers(read(*rows))).pids == (100, 101)


@pytest.mark.parametrize(
    ("more", "state", "words"),
    [
        ({"session_closed": True}, ServerState.ABSENT, "it ended when login session 42 was closed"),
        ({"host_restarted": True}, ServerState.ABSENT, "it ended when the host was restarted"),
        ({}, ServerState.CRASHED, "its process is gone"),
        (
            {"session_closed": True, "exit": ExitRecord(1, None, 1.0)},
            ServerState.CRASHED,
            "it exited with status 1",
        ),
    ],
)
def test_c11_what_a_closed_session_ended_has_not_crashed(more, state, words) -> None:
    server = only(group_servers((), records=(record(login_session="42", **more),)))
    assert server.state is state
    assert server.why.startswith(words)
