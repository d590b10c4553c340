from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specctl.agent.bootstrap import BOOT
from specctl.agent.protocol import LINE_MAX_BYTES, Writer
from tests.unit.agent.running import MARKER, RunningAgent, pack, sources


def _boot(payload: bytes) -> subprocess.CompletedProcess[bytes]:
    argv = [sys.executable, "-I", "-u", "-c", BOOT, MARKER]
    return subprocess.run(argv, input=payload, capture_output=True, check=False, timeout=30)


def test_hello_says_who_and_where(agent):
    assert agent.hello["protocol"] == 1
    assert agent.hello["pid"] == agent.process.pid
    assert agent.hello["uid"] == os.getuid()
    assert agent.hello["boot_id"] == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert agent.hello["has_psutil"] is True


def test_it_runs_from_the_root_directory(agent):
    assert os.readlink(f"/proc/{agent.process.pid}/cwd") == "/"


def test_a_damaged_bundle_is_not_run():
    done = _boot(pack({"modules": sources(), "main": "specctl_agent.main"}, sha256="0" * 64))
    assert done.returncode == 1
    assert b"arrived damaged" in done.stderr
    assert MARKER.encode() not in done.stdout


def test_tracebacks_show_streamed_lines():
    modules = {**sources(), "specctl_agent.broken": "def main(*_):\n    raise OSError('here')\n"}
    done = _boot(pack({"modules": modules, "main": "specctl_agent.broken"}))
    assert b"raise OSError('here')" in done.stderr


def test_a_one_shot_answers_once_in_a_frame():
    modules = {**sources(), "specctl_agent.twice": "def main(r):\n    return {'n': 2 * r['n']}\n"}
    payload = {"modules": modules, "main": "specctl_agent.twice", "request": {"n": 4}}
    done = _boot(pack(payload))
    assert done.stdout == f'\n{MARKER} {{"ok": {{"n": 8}}}}\n'.encode()


def test_what_is_no_request_is_refused_without_ending(agent):
    for line in (b"not json\n", b"[]\n", b'{"id": 1}\n', b'{"id":2,"op":"read","params":3}\n'):
        agent.write(line)
        assert agent.next(None)["error"]["kind"] == "bad_request"
    assert agent.fail("dance")["kind"] == "not_supported"
    assert agent.call("environment", names=["HOME"])["HOME"] == os.environ["HOME"]


def test_ops_name_the_wrong_parameter(agent):
    assert "paths must be" in agent.fail("stat", paths="x")["message"]
    assert agent.fail("sample", interval_s=0)["kind"] == "bad_request"
    assert agent.fail("read")["kind"] == "bad_request"
    assert agent.fail("processes", patterns=["("])["kind"] == "bad_request"


def test_a_hung_op_delays_no_other(agent, tmp_path):
    waiting = agent.send("tail", path=str(tmp_path / "none"), follow=True)
    assert agent.item(waiting)["event"] == "missing"
    assert agent.call("commands", names=["sh"])["sh"]
    agent.call("cancel", id=waiting)
    assert "end" in agent.next(waiting)


def test_cancel_says_whether_there_was_something(agent):
    assert agent.call("cancel", id=999) == {"was_running": False}


def test_a_stream_can_be_cancelled(agent):
    stream = agent.send("sample", interval_s=0.05)
    agent.item(stream)
    assert agent.call("cancel", id=stream) == {"was_running": True}
    while "item" in (last := agent.next(stream)):
        pass
    assert "end" in last


def test_an_id_in_use_is_refused(agent, tmp_path):
    first = agent.send("tail", path=str(tmp_path / "none"), follow=True)
    agent.item(first)
    agent.write(json.dumps({"id": first, "op": "environment", "params": {}}).encode() + b"\n")
    assert agent.next(first)["error"]["kind"] == "bad_request"


def test_modules_can_be_loaded(agent):
    assert agent.call("load", modules={"somewhere_else": "x = 1\n"}) == {}
    assert agent.fail("load", modules={"x": 1})["kind"] == "bad_request"


def test_end_of_input_ends_it_and_what_it_started(tmp_path):
    smi = tmp_path / "nvidia-smi"
    smi.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nexec sleep 600\n")
    smi.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin", "LD_LIBRARY_PATH": ""}
    with RunningAgent(env=env) as agent:
        stream = agent.send("sample", interval_s=0.05)
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
            agent.item(stream)
        child = int((tmp_path / "pid").read_text())
        began = time.monotonic()
    assert agent.process.returncode == 0
    assert time.monotonic() - began < 5
    deadline = time.monotonic() + 5
    while os.path.exists(f"/proc/{child}") and time.monotonic() < deadline:
        state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "Z":
            break
        time.sleep(0.01)
    else:
        assert not os.path.exists(f"/proc/{child}")


class _Pieces:
    """A stream that takes a few bytes at a time, as a full pipe does."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> int:
        self.data += bytes(data[:7])
        return min(7, len(data))

    def flush(self) -> None:
        pass


def test_lines_are_whole_ascii_and_bounded():
    stream = _Pieces()
    writer = Writer(stream)  # type: ignore[arg-type]
    writer.send({"id": 1, "ok": {"name": "ümlaut \udcff \n"}})
    writer.send({"id": 2, "ok": "x" * (LINE_MAX_BYTES + 1)})
    first, second = stream.data.decode("ascii").splitlines()
    assert json.loads(first)["ok"]["name"] == "ümlaut \udcff \n"
    assert json.loads(second)["id"] == 2
    assert "larger than a line" in json.loads(second)["error"]["message"]


@pytest.mark.parametrize(
    ("op", "params", "kind"),
    [
        ("read", {"path": "/nonexistent"}, "not_found"),
        ("read", {"path": "/"}, "not_supported"),
        ("read", {"path": "/dev/null"}, "not_supported"),
        ("walk", {"root": "/nonexistent"}, "not_found"),
        ("tail", {"path": "/nonexistent"}, "not_found"),
    ],
)
def test_errors_have_kinds(agent, op, params, kind):
    assert agent.fail(op, **params)["kind"] == kind
