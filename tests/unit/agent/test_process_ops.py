from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from specctl.agent import nvml_processes, ports, proc, processes, sockets

NEVER = threading.Event()
READY = "import sys; print('ready', flush=True); sys.stdin.read()"


@contextmanager
def child(code=READY, *, env=None, args=()):
    process = subprocess.Popen(
        [sys.executable, "-c", code, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        yield process
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def _rows(**params):
    return {row["pid"]: row for row in processes.processes(params, NEVER)["processes"]}


def test_a_process_is_told_in_full():
    with child(args=["--model-path", "a b"], env={"CUDA_VISIBLE_DEVICES": "4,5"}) as process:
        row = _rows(pids=[process.pid], environment=["CUDA_VISIBLE_DEVICES", "NOPE"])[process.pid]
    assert row["argv"][-2:] == ["--model-path", "a b"]
    assert row["environment"] == {"CUDA_VISIBLE_DEVICES": "4,5"}
    assert (row["ppid"], row["uid"]) == (os.getpid(), os.getuid())
    assert row["pgid"] == os.getpgid(0)
    assert row["stdout"].startswith("pipe:")
    assert row["cwd"] == os.getcwd()
    assert 0 <= row["age_s"] < 60
    assert row["rss_bytes"] > 1 << 20
    assert row["pid_namespace"] == os.readlink("/proc/self/ns/pid")


def test_matches_bring_their_descendants():
    code = (
        "import subprocess, sys; p = subprocess.Popen(['sleep', '600']);"
        "print('ready', flush=True); sys.stdin.read(); p.kill(); p.wait()"
    )
    with child(code, args=["needle-4711"]) as process:
        rows = _rows(patterns=["needle-4711"])
        below = [row for row in rows.values() if row["ppid"] == process.pid]
        assert [row["argv"] for row in below] == [["sleep", "600"]]
        assert os.getpid() not in rows


def test_marked_processes_are_found_without_a_pattern():
    with child(env={"SPECCTL_LAUNCH": "0123abcd"}) as process:
        rows = _rows(environment=["SPECCTL_LAUNCH"])
        assert rows[process.pid]["environment"] == {"SPECCTL_LAUNCH": "0123abcd"}


@pytest.mark.parametrize(
    ("comm", "arguments", "title"),
    [
        ("sglang::schedul", ["sglang::scheduler_TP0"], "sglang::scheduler_TP0"),
        ("python", ["python", "-m", "sglang.launch_server"], "python"),
        ("kworker/0:1", [], "kworker/0:1"),
        ("sleep", ["sleep"], "sleep"),
    ],
)
def test_title_is_the_renamed_one(comm, arguments, title):
    assert proc.title(comm, arguments) == title


def test_stat_with_blanks_and_parentheses_in_the_name():
    fields = ["S", "7", "8", "9"] + ["0"] * 15 + ["12345", "0", "77"]
    stat = proc.parse_stat(f"4242 (a) b (c)) {' '.join(fields)}")
    assert stat.comm == "a) b (c)"
    assert (stat.state, stat.ppid, stat.pgid, stat.sid) == ("S", 7, 8, 9)
    assert (stat.start_ticks, stat.rss_pages) == (12345, 77)


def test_start_ticks_are_those_of_the_kernel():
    stat = proc.stat(os.getpid())
    assert stat is not None
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    assert stat.start_ticks == int(fields[19])


def test_ports_name_their_owner():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port, free = server.getsockname()[1], unused.getsockname()[1]
        answer = ports.ports({"ports": [port, free]}, NEVER)
        row = _rows(pids=[os.getpid()]).get(os.getpid())
    assert answer[str(port)] == {
        "owner_pid": os.getpid(),
        "uid": os.getuid(),
        "address": "127.0.0.1",
    }
    assert answer[str(free)] is None
    assert row is None, "the agent leaves itself out"


def test_listening_ports_belong_to_their_process(tmp_path):
    code = (
        "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
        "f = open(sys.argv[1], 'w'); f.write(str(s.getsockname()[1])); f.close();"
        "print('ready', flush=True); sys.stdin.read()"
    )
    file = tmp_path / "port"
    with child(code, args=[str(file)]) as process:
        port = int(file.read_text())
        row = _rows(pids=[process.pid])[process.pid]
    assert row["listening"] == [port]
    assert row["listening_addresses"] == {str(port): "127.0.0.1"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0: 0100007F:1F90 00000000:0000 0A 0:0 00:0 0 1000 0 777 1", ("127.0.0.1", 8080)),
        ("0: 00000000:7530 00000000:0000 0A 0:0 00:0 0 0 0 778 1", ("0.0.0.0", 30000)),
        (
            "0: 00000000000000000000000001000000:7530 0:0 0A 0:0 00:0 0 0 0 779 1",
            ("::1", 30000),
        ),
    ],
)
def test_addresses_of_the_kernels_table(line, expected):
    (found,) = sockets.parse_listeners("header\n" + line + "\n")
    assert (found.address, found.port) == expected


def test_connected_sockets_do_not_listen():
    line = "0: 0100007F:1F90 0100007F:9999 01 0:0 00:0 0 1000 0 777 1"
    assert sockets.parse_listeners("header\n" + line + "\n") == []


class _Library:
    """Answers a process call from prepared rows."""

    def __init__(self, functions):
        for name, function in functions.items():
            setattr(self, name, function)


def _call(data, count, code=0):
    def function(_handle, count_pointer, buffer):
        ctypes.memmove(buffer, data, len(data))
        ctypes.cast(count_pointer, ctypes.POINTER(ctypes.c_uint))[0] = count
        return code

    return function


@pytest.mark.parametrize(
    ("suffix", "row", "extra"),
    [
        ("", nvml_processes.ROW_V1, {}),
        ("_v2", nvml_processes.ROW_V2, {}),
        ("_v3", nvml_processes.ROW_V2, {}),
        ("_v3", nvml_processes.ROW_EARLY_R535, {"nvmlDeviceGetConfComputeMemSizeInfo": None}),
    ],
)
def test_every_drivers_process_rows(suffix, row, extra):
    rest = (0,) * (len(row.unpack(bytes(row.size))) - 2)
    data = row.pack(4242, 5 << 30, *rest) + row.pack(4243, (1 << 64) - 1, *rest)
    name = f"nvmlDeviceGetComputeRunningProcesses{suffix}"
    lists = nvml_processes.ProcessLists(_Library({name: _call(data, 2), **extra}))
    assert lists.read(None) == [
        {"pid": 4242, "memory_bytes": 5 << 30, "kind": "compute"},
        {"pid": 4243, "memory_bytes": None, "kind": "compute"},
    ]


def test_pids_of_another_namespace_are_nobodys():
    rows: list[dict[str, Any]] = [{"pid": os.getpid()}, {"pid": 1}]
    nvml_processes.name_owners(rows, "pid:[4026532999]")
    assert [(row["is_local"], row["user"], row["name"]) for row in rows] == [
        (False, None, None),
        (False, None, None),
    ]


def test_in_a_container_a_process_with_the_driver_open_is_believed(tmp_path):
    library = tmp_path / "libcuda.so.1"
    library.write_bytes(b"\0" * 4096)
    code = (
        "import mmap, sys; f = open(sys.argv[1], 'rb');"
        "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ);"
        "print('ready', flush=True); sys.stdin.read()"
    )
    with child(code, args=[str(library)]) as process:
        rows: list[dict[str, Any]] = [{"pid": process.pid}]
        nvml_processes.name_owners(rows, "pid:[4026532999]")
    assert rows[0]["is_local"] is True
    assert rows[0]["uid"] == os.getuid()


def test_in_the_first_namespace_a_process_has_a_name_and_a_user():
    rows: list[dict[str, Any]] = [{"pid": os.getpid()}, {"pid": 4_194_305}]
    nvml_processes.name_owners(rows, nvml_processes.INITIAL_NAMESPACE)
    assert rows[0]["uid"] == os.getuid()
    assert rows[0]["name"]
    assert (rows[1]["is_local"], rows[1]["name"]) == (True, None)
