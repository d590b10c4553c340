"""All-reduces by a torch that stands in for the real one, each rank a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile

import pytest

from specctl.agent.oneshot import allreduce

TORCH = """
import os, time
__version__ = "9.9"
bfloat16 = "bfloat16"
def zeros(size, dtype, device):
    return size
def set_num_threads(count):
    pass
"""
DISTRIBUTED = """
import os, sys, time
def init_process_group(backend, init_method, rank, world_size):
    if backend == "odd":
        raise RuntimeError("no such\\n backend here")
    assert os.environ["GLOO_SOCKET_IFNAME"] == "lo"
    open(init_method[7:] + str(rank), "w").close()
    while len(os.listdir(os.path.dirname(init_method[7:]))) < world_size:
        time.sleep(0.01)
def barrier():
    pass
def all_reduce(size):
    time.sleep(size / 1e6)
"""
ASKED = {
    "ranks": 2, "backend": "gloo", "dtype": "bfloat16", "sizes": [1000, 4000], "rounds": 3,
    "calls": 2, "warm_up": 1, "limit_s": 20, "gpus": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    home = tmp_path_factory.mktemp("torch")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    package = next(home.glob("lib/python*/site-packages")) / "torch"
    package.mkdir()
    (package / "__init__.py").write_text(TORCH)
    (package / "distributed.py").write_text(DISTRIBUTED)
    return str(home / "bin/python")


@pytest.fixture
def reduce(python, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def ask(**changes):
        return allreduce.main({**ASKED, **changes})

    yield ask
    assert list(tmp_path.iterdir()) == []


def test_each_size_is_timed_by_all_ranks(reduce):
    answer = reduce()
    assert answer["torch"] == "9.9"
    (small, small_least), (large, large_least) = answer["times_s"]
    assert 0.001 <= small_least <= small
    assert 0.004 <= large_least <= large
    json.dumps(answer)


def test_a_rank_that_fails_is_quoted_and_ends_the_others(reduce):
    with pytest.raises(allreduce.AllReduceError, match="ended with status 1: ") as caught:
        reduce(backend="odd")
    assert str(caught.value).endswith("backend here")


def test_what_takes_too_long_ends_by_itself(reduce):
    with pytest.raises(allreduce.AllReduceError, match="nothing was measured within 1 s"):
        reduce(limit_s=1, rounds=100_000)


def test_no_rank_outlives_its_time_whatever_becomes_of_its_parent(python, tmp_path):
    """The limit is the rank's own: nobody has to be there to end it."""
    meeting = f"{tmp_path}/meeting"
    asked = {**ASKED, "rank": 0, "meeting": meeting, "ranks": 1, "limit_s": 1}
    started = subprocess.Popen(
        [python, "-I", "-c", allreduce.RANK, json.dumps({**asked, "rounds": 100_000})],
        env={"GLOO_SOCKET_IFNAME": "lo"}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert started.wait(timeout=20) == -signal.SIGALRM
