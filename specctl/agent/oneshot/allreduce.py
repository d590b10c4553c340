"""How long all-reduces take here, by the torch of the interpreter that has SGLang.

Ranks are processes of their own, which meet in a file and end by themselves when their time is up,
whatever becomes of whoever started them.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any, Dict, List

GRACE_S = 2.0
WORDS = 400
RANK = r"""
import json, os, signal, statistics, sys, time
asked = json.loads(sys.argv[1])
rank, backend = asked["rank"], asked["backend"]
signal.alarm(asked["limit_s"])
import torch
import torch.distributed as dist
device = "cuda:%d" % rank if backend == "nccl" else "cpu"
if backend == "nccl":
    torch.cuda.set_device(rank)
else:
    torch.set_num_threads(1)
dist.init_process_group(
    backend, init_method="file://" + asked["meeting"], rank=rank, world_size=asked["ranks"]
)
def wait():
    if backend == "nccl":
        torch.cuda.synchronize()
found = []
for size in asked["sizes"]:
    tensor = torch.zeros(size, dtype=getattr(torch, asked["dtype"]), device=device)
    for _ in range(asked["warm_up"]):
        dist.all_reduce(tensor)
    wait()
    dist.barrier()
    times = []
    for _ in range(asked["rounds"]):
        begun = time.perf_counter()
        for _ in range(asked["calls"]):
            dist.all_reduce(tensor)
        wait()
        times.append((time.perf_counter() - begun) / asked["calls"])
    found.append([statistics.median(times), min(times)])
dist.barrier()
if rank == 0:
    sys.stdout.write(json.dumps({"times_s": found, "torch": torch.__version__}) + "\n")
sys.stdout.flush()
os._exit(0)
"""


class AllReduceError(Exception):
    """Nothing could be measured; says why."""


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Measure all-reduces of `request["sizes"]` elements each.

    Request: ranks, backend (gloo or nccl), dtype (of torch), sizes, rounds, calls, warm_up,
    limit_s, gpus (None, or what CUDA_VISIBLE_DEVICES is to be). Answer: times_s (median and
    fastest of each size, in seconds per all-reduce) and torch (its version).
    """
    folder = tempfile.mkdtemp(prefix="specctl-allreduce-")
    ranks: List[Any] = []
    try:
        meeting = os.path.join(folder, "meeting")
        ranks.extend(_start(request, rank, meeting) for rank in range(request["ranks"]))
        return _collect(ranks, request["limit_s"])
    finally:
        for process in ranks:
            _end(process)
        shutil.rmtree(folder, ignore_errors=True)


def _start(request: Dict[str, Any], rank: int, meeting: str) -> Any:
    environment = dict(os.environ, GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
    if request.get("gpus") is not None:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, request["gpus"]))
    asked = {key: value for key, value in request.items() if key != "gpus"}
    return subprocess.Popen(
        [sys.executable, "-I", "-c", RANK, json.dumps(dict(asked, rank=rank, meeting=meeting))],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _collect(ranks: List[Any], limit_s: float) -> Dict[str, Any]:
    """The answer of rank 0; the first rank that fails ends all of them."""
    until = time.monotonic() + limit_s + GRACE_S
    while any(process.poll() is None for process in ranks):
        failed = [process for process in ranks if process.poll() not in (None, 0)]
        if failed:
            raise AllReduceError(_failure(failed[0], limit_s))
        if time.monotonic() > until:
            raise AllReduceError("the ranks did not end within %d s" % limit_s)
        time.sleep(0.05)
    for process in ranks:
        if process.returncode != 0:
            raise AllReduceError(_failure(process, limit_s))
    out, _ = ranks[0].communicate()
    try:
        return dict(json.loads(out.decode("utf-8", "replace").splitlines()[-1]))
    except (ValueError, IndexError) as error:
        raise AllReduceError("the ranks gave no answer: %s" % error) from error


def _failure(process: Any, limit_s: float) -> str:
    if process.returncode == -signal.SIGALRM:
        return "nothing was measured within %d s" % limit_s
    _, err = process.communicate()
    lines = err.decode("utf-8", "replace").strip().splitlines()
    words = lines[-1][:WORDS] if lines else "no words"
    return "a rank ended with status %s: %s" % (process.returncode, words)


def _end(process: Any) -> None:
    """It is alone in its session."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
