"""Source trees over real sshd: found, read, searched, compared; and what a second look costs."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specctl.adapters.agent_channel import AgentChannel
from specctl.adapters.source_cache import SourceCache
from specctl.services.inspection import open_tree
from tests.schemas import assert_valid
from tests.ssh.operator_side import OperatorSide
from tests.ssh.sshd import ssh_host
from tests.trees.releases import release

pytestmark = pytest.mark.timeout(300)
VERSION = "0.5.5"


@pytest.fixture
async def operator(lab) -> OperatorSide:
    await lab.server("gpu")
    return OperatorSide(lab)


def environment(folder: Path, version: str = VERSION) -> str:
    """The interpreter of an environment that has this release."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for part in release(version).iterdir():
        shutil.copytree(part, packages / part.name)
    return str(folder / "bin/python")


@pytest.fixture
def python(tmp_path) -> str:
    return environment(tmp_path / "venv")


def test_what_a_host_can_do_is_read(operator, python):
    operator.write_host("gpu", python=python)
    ran = operator.run("inspect", "gpu")
    assert ran.status == 0, ran.err
    assert f"SGLang {VERSION}" in ran.out
    assert [line.split()[0] for line in ran.out.splitlines() if "Worker" in line] == [
        "EAGLE", "EAGLE3", "STANDALONE", "NGRAM",
    ]  # fmt: skip
    again = operator.run("inspect", "gpu", "ngram")
    assert "nothing transferred" in again.out
    assert "srt/speculative/cpp_ngram/ngram.cpp" in again.out
    assert "only supports CUDA" in again.out
    assert "--speculative-ngram-max-bfs-breadth" in again.out


def test_the_json_has_everything_and_follows_its_schema(operator, python):
    operator.write_host("gpu", python=python)
    document = operator.run("inspect", "gpu", "--json").json
    assert_valid(document)
    assert (document["host"], document["version"], document["problems"]) == ("gpu", VERSION, [])
    assert {a["name"] for a in document["algorithms"]} == {"EAGLE", "EAGLE3", "STANDALONE", "NGRAM"}
    (eagle,) = [a for a in document["algorithms"] if a["name"] == "EAGLE"]
    assert (eagle["aliases"], eagle["worker"]) == (
        ["NEXTN"], "srt/speculative/eagle_worker.py:EAGLEWorker",
    )  # fmt: skip
    (topk,) = [f for f in document["flags"] if f["name"] == "--speculative-eagle-topk"]
    assert (topk["type"], topk["default"], topk["file"]) == ("int", None, "srt/server_args.py")
    (active,) = [one for one in document["installs"] if one["is_active"]]
    assert (active["python"], active["path"]) == (python, document["path"])
    assert document["received_bytes"] > 0
    assert operator.run("inspect", "gpu", "--json").json["received_bytes"] == 0


def test_files_are_found_printed_and_searched(operator, python):
    operator.write_host("gpu", python=python)
    found = operator.run("inspect", "gpu", "--find", "*ngram*", "--json").json
    assert_valid(found)
    assert "srt/speculative/ngram_worker.py" in found["files"]
    assert not [name for name in found["files"] if "__pycache__" in name]
    text = operator.run("source", "gpu", "srt/speculative/ngram_worker.py")
    whole = (release(VERSION) / "sglang/srt/speculative/ngram_worker.py").read_text()
    assert text.out.split("\n")[:20] == whole.split("\n")[:20]
    ran = operator.run("source", "gpu", "--grep", r"^class \w*NGRAM\w*")
    assert "srt/speculative/ngram_worker.py:" in ran.out
    assert "class NGRAMWorker" in ran.out
    line = next(r.split(":")[1] for r in ran.out.splitlines() if "class NGRAMWorker" in r)
    around = operator.run("source", "gpu", f"srt/speculative/ngram_worker.py:{line}")
    assert any(
        row.startswith("▌") and "class NGRAMWorker" in row for row in around.out.splitlines()
    )
    matches = operator.run("source", "gpu", "--grep", "class NGRAMWorker", "--json").json
    assert_valid(matches)
    assert matches["matches"][0]["line"] == int(line)


def test_only_what_is_inside_the_tree_is_shown(operator, python, tmp_path):
    (tmp_path / "secret.py").write_text("password = 1\n")
    package = next((tmp_path / "venv").glob("lib/python*/site-packages/sglang"))
    (package / "srt/out.py").symlink_to(tmp_path / "secret.py")
    operator.write_host("gpu", python=python)
    for name in ("srt/out.py", "../../secret.py", "/etc/passwd", "srt/none.py"):
        operator.run("source", "gpu", name).must_fail(2, name, hint="")
    assert "password" not in operator.run("source", "gpu", "--grep", "password = 1").out


def test_a_pattern_that_never_ends_is_ended(operator, python, tmp_path):
    package = next((tmp_path / "venv").glob("lib/python*/site-packages/sglang"))
    (package / "aaa.py").write_text("a" * 60 + "!\n")
    operator.write_host("gpu", python=python)
    ran = operator.run("source", "gpu", "--grep", "^(a|aa)+$", "--for", "1")
    assert ran.status == 4
    assert "ended after 1 s in aaa.py" in ran.err
    operator.run("source", "gpu", "--grep", "[").must_fail(2, "not a pattern", hint="re")


def test_ctrl_c_ends_a_search_and_what_it_started(operator, python, tmp_path):
    package = next((tmp_path / "venv").glob("lib/python*/site-packages/sglang"))
    mark = "zz" + os.urandom(6).hex()
    (package / "aaa.py").write_text(f"{mark}first\n" + "a" * 60 + "!\n")
    operator.write_host("gpu", python=python)
    process = subprocess.Popen(
        [sys.executable, "-m", "specctl", "source", "gpu", "--grep", f"{mark}|^(a|aa)+$"],
        cwd=operator.workspace,
        env={"HOME": str(operator.home), "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # a background job of a shell ignores Ctrl-C, and so would this
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdout is not None
    assert mark in process.stdout.readline()
    home = operator.lab.servers[0].home
    assert searches(home)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, "Traceback" in err) == (130, False)
    until_s = time.monotonic() + 10
    while searches(home) and time.monotonic() < until_s:
        time.sleep(0.05)
    assert searches(home) == []


def searches(home: Path) -> list[str]:
    """The processes on the host with this home that search files."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            is_search = b"Searches files for a pattern" in (place / "cmdline").read_bytes()
            is_ours = f"HOME={home}".encode() in (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        found += [place.name] if is_search and is_ours else []
    return found


def test_a_difference_to_a_version_a_directory_and_another_host(operator, python, tmp_path):
    operator.write_host("gpu", python=python)
    operator.write_host("other", ssh="gpu", python=environment(tmp_path / "two", "0.4.6.post5"))
    unknown = operator.run("inspect", "gpu", "--diff", "0.4.6.post5")
    unknown.must_fail(2, "0.4.6.post5 is no host", hint="pip download")
    by_host = operator.run("inspect", "gpu", "--diff", "other", "--json")
    assert_valid(by_host.json)
    assert by_host.json["algorithms"]["removed"] == ["STANDALONE", "NGRAM"]
    assert "--speculative-ngram-capacity" in by_host.json["flags"]["removed"]
    by_version = operator.run("inspect", "gpu", "--diff", "0.4.6.post5", "--json")
    by_folder = operator.run("inspect", "gpu", "--diff", str(tmp_path / "two"), "--json")
    for ran in (by_version, by_folder):
        assert ran.json["flags"] == by_host.json["flags"]
    text = operator.run("inspect", "gpu", "--diff", "other", "--file", "version.py")
    assert '-__version__ = "0.5.5"' in text.out
    assert '+__version__ = "0.4.6.post5"' in text.out
    same = operator.run("inspect", "gpu", "--diff", "gpu")
    assert "The same" in same.out


def test_a_checkout_with_edits_and_a_broken_file(operator, tmp_path):
    clone = tmp_path / "clone"
    shutil.copytree(release(VERSION) / "sglang", clone / "python/sglang")
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "one")):
        subprocess.run(["git", *identity, *words], cwd=clone, check=True)
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    (packages / "sglang.pth").write_text(f"{clone / 'python'}\n")
    (clone / "python/sglang/srt/speculative/eagle_worker.py").write_text("class (:\n")
    operator.write_host("gpu", python=str(home / "bin/python"))
    document = operator.run("inspect", "gpu", "--json").json
    assert document["is_editable"]
    assert document["commit"].endswith("-dirty")
    (problem,) = document["problems"]
    assert (problem["file"], problem["line"]) == ("srt/speculative/eagle_worker.py", 1)
    assert {a["name"] for a in document["algorithms"]} == {"EAGLE", "EAGLE3", "STANDALONE", "NGRAM"}
    shown = operator.run("inspect", "gpu").out
    assert "with local edits" in shown
    assert "srt/speculative/eagle_worker.py:1" in shown


def test_an_edit_in_the_installed_package_is_named(operator, python, tmp_path):
    operator.write_host("gpu", python=python)
    assert operator.run("inspect", "gpu", "--json").json["edited"] == []
    package = next((tmp_path / "venv").glob("lib/python*/site-packages/sglang"))
    with (package / "srt/speculative/ngram_worker.py").open("a") as file:
        file.write("def broken(:\n")
    document = operator.run("inspect", "gpu", "--json").json
    assert document["edited"] == ["srt/speculative/ngram_worker.py"]
    assert [p["file"] for p in document["problems"]] == ["srt/speculative/ngram_worker.py"]
    assert "not as installed: srt/speculative/ngram_worker.py" in operator.run("inspect", "gpu").out


def test_a_host_without_sglang_says_what_to_do(operator, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "v")], check=True)
    operator.write_host("gpu", python=str(tmp_path / "v/bin/python"))
    operator.run("inspect", "gpu").must_fail(1, "has no sglang", hint="python =")
    operator.run("inspect", "gpu", "--python", "/nonexistent").must_fail(
        1, "/nonexistent", hint="python ="
    )


async def test_the_wire_carries_nothing_for_a_tree_that_has_not_changed(
    lab, connected, python, tmp_path, monkeypatch
):
    await lab.server("gpu")
    received: list[int] = []
    take = AgentChannel._take

    async def counted(self, line):
        received.append(len(line))
        await take(self, line)

    monkeypatch.setattr(AgentChannel, "_take", counted)
    cache = SourceCache(tmp_path / "cache")
    async with connected("gpu") as session:
        agent = await AgentChannel.start(session, (python,))
        try:
            received.clear()
            connection = Connection(session, agent, python)
            first = await open_tree(connection, cache=cache)
            whole = sum(received)
            received.clear()
            again = await open_tree(connection, cache=cache)
        finally:
            await agent.close()
    assert first.tree == again.tree
    assert whole > first.cost.received_bytes > 100_000
    assert again.cost.received_bytes == 0
    assert sum(received) < 2000


class Connection:
    """What `open_tree` needs of a connection."""

    def __init__(self, session, agent, python):
        self.session, self.agent = session, agent
        self.host, self.hello = ssh_host("gpu", python=python), agent.hello


def test_every_document_is_one_line_of_json_away(operator, python):
    operator.write_host("gpu", python=python)
    shown = json.loads(operator.run("inspect", "gpu", "NGRAM", "--json").out)
    assert [a["name"] for a in shown["algorithms"]] == ["NGRAM"]
