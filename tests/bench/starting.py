"""What it costs to start specctl at all, and until it can be seen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING

from tests.bench.lab import folder
from tests.bench.measure import Measured, Side

if TYPE_CHECKING:
    from pathlib import Path

REPEATS = 15
PAINTS = 9
PAINT_LIMIT_S = 20.0
SIZE = struct.pack("HHHH", 50, 160, 0, 0)
CONTROL = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b[P_][^\x1b]*\x1b\\"
)
"""Titles, colours, cursor moves and queries: everything that is not seen as a letter."""


def _seconds(argv: list[str]) -> float:
    begun = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def version() -> Measured:
    """`specctl --version` against an interpreter that does nothing, in turns."""
    ours, theirs = [], []
    for _ in range(REPEATS):
        theirs.append(_seconds([sys.executable, "-c", "pass"]))
        ours.append(_seconds([sys.executable, "-m", "specctl", "--version"]))
    return Measured(
        "specctl --version",
        "s",
        Side("specctl", tuple(ours)),
        Side("python -c pass", tuple(theirs)),
        goal=3.0,
    )


def first_paint() -> Measured:
    """From starting the process to its name on the screen of a terminal, files in the cache."""
    with folder() as made:
        (made / "ws" / "remotes").mkdir(parents=True)
        for name in ("one", "two"):
            (made / "ws" / "remotes" / f"{name}.toml").write_text('ssh = "192.0.2.1"\n')
        _paint_s(made)
        paints = tuple(_paint_s(made) for _ in range(PAINTS))
    return Measured(
        "first paint", "s", Side("specctl", paints), None, 0.5,
        "160x50, two hosts that do not answer; the first start is discarded",
    )  # fmt: skip


def _paint_s(home: Path) -> float:
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, SIZE)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "TERM": "xterm-256color"}
    begun_s = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "specctl"],
        stdin=its, stdout=its, stderr=its, cwd=home / "ws", start_new_session=True,
        env={**environment, "LANG": "C.UTF-8", "COLORTERM": "truecolor"},
    )  # fmt: skip
    os.close(its)
    try:
        _read_until(ours, b"specctl", begun_s + PAINT_LIMIT_S)
        return time.perf_counter() - begun_s
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read_until(terminal: int, wanted: bytes, deadline_s: float) -> None:
    seen = b""
    while wanted not in CONTROL.sub(b"", seen):
        left_s = deadline_s - time.perf_counter()
        if left_s <= 0 or not select.select([terminal], [], [], left_s)[0]:
            raise TimeoutError(f"no {wanted.decode()} on the screen; so far: {seen[-500:]!r}")
        seen += os.read(terminal, 1 << 16)
