"""A log as nobody wants to read it: progress bars, escape codes, a megabyte a line, bad UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.lab.server.log import Log

_LONG_BYTES = 1 << 20


def write_hostile_lines(log: Log) -> None:
    """One of each kind."""
    for done in range(0, 101, 25):
        log.raw(f"\rprocessing: {done:3d}%|{'#' * (done // 10):<10}| {done}/100".encode())
    log.raw(b"\n")
    log.raw(b"\033[31;1mred\033[0m \033]0;a title\007 \033[2J\033[H cleared\n")
    log.raw(b"x" * _LONG_BYTES + b"\n")
    log.raw(b"not UTF-8: \xff\xfe\x80 \xe2\x28\xa1\n")
    log.raw(b"[2026-01-01 00:00:00] Decode batch, #running-req: many, gen throughput: lots\n")
