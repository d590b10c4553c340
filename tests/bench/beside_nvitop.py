"""The host screen in a real terminal beside nvitop on the same simulated GPUs, at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from specctl.lab.shells import environment
from tests.bench.lab import folder
from tests.bench.measure import Measured, Side
from tests.lab.practice import Practice
from tests.tui.terminal import Terminal, terminal_environ

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST, PROFILE = "lab-1", "lab-eagle3-trained"
SETTLE_S, WINDOWS, WINDOW_S = 6.0, 5, 8.0
COLUMNS, ROWS = 160, 50
GOAL = 1.0
PACES_S = (0.5, 1.0)
"""Twice a second as the goal has it, and as it is unless asked otherwise."""

NS_PER_S = 1e9
AT_PACE = """\
import sys
from specctl.services.monitor import Monitor
Monitor.__init__.__kwdefaults__["interval_s"] = {pace_s}
from specctl.__main__ import main
sys.exit(main())
"""


def beside_nvitop() -> list[Measured]:
    """Processor time of both programs over the same windows, at each pace."""
    return [_at_pace(pace_s) for pace_s in PACES_S]


def _at_pace(pace_s: float) -> Measured:
    with folder() as made, served(made) as practice:
        ours = Terminal(made / "ours", terminal_environ(practice.home), columns=COLUMNS, rows=ROWS)
        on_host = environment(practice.host(HOST), "nvitop")
        theirs = Terminal(
            made / "theirs", {**terminal_environ(practice.home), **on_host},
            columns=COLUMNS, rows=ROWS,
        )  # fmt: skip
        try:
            show_host(ours, pace_s)
            theirs.begin([], program=("-m", "nvitop", "--interval", "1"))
            theirs.wait_for("UTL: ", "GPUs in nvitop")
            time.sleep(SETTLE_S)
            shares = [cpu_percents(ours, theirs) for _ in range(WINDOWS)]
        finally:
            ours.close()
            theirs.close()
    mine, its = zip(*shares, strict=True)
    return Measured(
        f"host screen of 8 GPUs and a busy server in a terminal, {COLUMNS}x{ROWS}, "
        f"{1 / pace_s:g} Hz: CPU", "%",
        Side(f"specctl at {1 / pace_s:g} Hz over ssh", mine), Side("nvitop at 1 Hz, local", its),
        GOAL,
        "one core is 100 %; the lab's GPUs and server, SIMULATED; both at once, "
        f"{WINDOWS} windows of {WINDOW_S:g} s, load {os.getloadavg()[0]:.1f}; the agent's time "
        "is the host's and not in it",
    )  # fmt: skip


@contextmanager
def served(made: Path) -> Iterator[Practice]:
    """A practice host with a server, which answers a probe meanwhile."""
    for name in ("home", "ours", "theirs"):
        (made / name).mkdir()
    practice = Practice(made / "home")
    practice.up("--load-factor", "0.1")
    try:
        started = practice.run("start", HOST, PROFILE, "--yes")
        assert started.status == 0, started.err
        argv = [sys.executable, "-m", "specctl", "probe", HOST, "--concurrency", "4"]
        with subprocess.Popen(
            argv, cwd=practice.home, env=practice.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ) as probing:  # fmt: skip
            yield practice
            probing.terminate()
    finally:
        practice.run("lab", "down")


def show_host(screen: Terminal, pace_s: float) -> None:
    """The host's own screen, its numbers there, sampled so often."""
    screen.begin([], program=("-c", AT_PACE.format(pace_s=pace_s)))
    screen.wait_for(lambda text: "ready" in text or "busy" in text, "a server")
    screen.send("Enter")
    screen.wait_for(lambda text: "Throughput" in text and "GPU" in text, "the panels of a host")


def cpu_percents(*screens: Terminal) -> list[float]:
    """Of a core, of each program over one window."""
    pids = [int(screen.pid_file.read_text()) for screen in screens]
    before, began_s = [cpu_s(pid) for pid in pids], time.monotonic()
    time.sleep(WINDOW_S)
    wall_s = time.monotonic() - began_s
    return [(cpu_s(pid) - used) / wall_s * 100 for pid, used in zip(pids, before, strict=True)]


def cpu_s(pid: int) -> float:
    """Of a process that lives, with all threads that it has now."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / NS_PER_S


if __name__ == "__main__":
    for row in beside_nvitop():
        print(row)
