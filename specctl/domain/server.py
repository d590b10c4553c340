"""Servers: who they are, and what is known of their state."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specctl.domain.missing import Reasons


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one process from every other, on every host, for ever."""

    boot_id: str
    """/proc/sys/kernel/random/boot_id of the host."""

    pid: int
    start_ticks: int
    """Field 22 of /proc/PID/stat: clock ticks after boot."""

    pgid: int
    sid: int
    marker: str
    """Value of SPECCTL_LAUNCH in its environment; empty for a server started some other way."""


class Milestone(StrEnum):
    """How far a start has come, in order."""

    LAUNCHED = "launched"
    ARGUMENTS = "arguments"
    DISTRIBUTED = "distributed"
    WEIGHTS = "weights"
    DRAFT_WEIGHTS = "draft weights"
    MEMORY_POOL = "memory pool"
    GRAPH_CAPTURE = "graph capture"
    NGRAM_BUILD = "n-gram build"
    WARM_UP = "warm-up"
    READY = "ready"


class ServerState(StrEnum):
    """What a server is doing, derived at each look from all the evidence."""

    ABSENT = "absent"
    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    DRAINING = "draining"
    STALLED = "stalled"
    STALE = "stale"
    UNKNOWN = "unknown"
    CRASHED = "crashed"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """One process of a host that belongs to an SGLang server, as /proc shows it."""

    identity: Identity
    ppid: int
    uid: int
    user: str
    argv: tuple[str, ...]
    title: str
    """`comm`, or the process title when it was renamed (`sglang::scheduler_TP0`)."""

    cwd: str | None = None
    exe: str | None = None
    listening: tuple[int, ...] = ()
    """TCP ports this process listens on; empty also when /proc does not let us see."""

    stdout: str | None = None
    """What file descriptor 1 points to; None when it cannot be read."""

    stderr: str | None = None
    environment: tuple[tuple[str, str], ...] = ()
    """Only the variables asked for; empty also when it cannot be read."""

    age_s: float | None = None
    state: str = "?"
    """The letter of /proc/PID/stat: R, S, D, Z, T …"""

    rss_bytes: int | None = None
    pid_namespace: str | None = None
    """`pid:[4026531836]`; None when it cannot be read."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything a server's state is derived from; None means that piece could not be had."""

    process_alive: bool | None = None
    """Its main process is there."""

    port_open: bool | None = None
    """Something listens on its port."""

    milestone: Milestone | None = None
    """The last one reached, from the log."""

    http: str | None = None
    """`200`, `503`, `401`, `refused`, `timed out`; None when it was not asked."""

    exit_status: int | None = None
    """Of the main process; 128 + N for signal N."""

    ended_with: str | None = None
    """What took it down with it, where nobody recorded its end: a login session, or the host."""

    stop_asked: bool = False
    """An operator asked for its end, so that is no crash."""

    first_cause: str | None = None
    """Of a failure, from the log; None as long as nothing failed."""

    log_age_s: float | None = None
    """Since the last line was written."""

    counters_moved: bool | None = None
    """Something was counted since the last look."""

    running_requests: int | None = None
    sample_age_s: float | None = None
    """Since the server last said what it is doing."""

    survivors: int = 0
    """Processes of the server that live on after its main process."""

    frozen: int = 0
    """Processes of the server that are stopped (state T), as by SIGSTOP or a debugger."""

    age_s: float | None = None
    """Since the main process started."""


@dataclass(frozen=True, slots=True)
class Server:
    """One server of a host, ours or not."""

    name: str
    """Unique on its host: the launch id's first four digits or `pid-N`."""

    state: ServerState
    identity: Identity | None
    is_ours: bool
    """It has a launch record or was adopted."""

    owner: str | None = None
    """The user it runs as."""

    port: int | None = None
    bind_address: str | None = None
    gpus: tuple[int, ...] | None = None
    """As the driver numbers them; empty for a server on the CPU."""

    model: str | None = None
    version: str | None = None
    """Of SGLang; None until the server was asked."""

    profile: str | None = None
    """None when it was started some other way and follows none."""

    launch_id: str | None = None
    """None without a launch record."""

    launched_by: str | None = None
    """`user@machine`; None without a launch record."""

    argv: tuple[str, ...] = ()
    """Redacted."""

    log_path: str | None = None
    """None when its output goes to no file."""

    milestone: Milestone | None = None
    """How far its start has come; None when no log says so."""

    node_rank: int | None = None
    """Which rank of a server over several hosts (nnodes > 1) this is; None when it is not one."""

    is_multi_node: bool = False
    algorithm: str | None = None
    """The speculative algorithm of its arguments; None without speculation."""

    is_simulated: bool = False
    """A stand-in answers in its place; its numbers are not measured."""

    pids: tuple[int, ...] = ()
    """Every process of it that is seen, the main one first."""

    evidence: Evidence = field(default_factory=Evidence)
    why: str = ""
    """The state's evidence in words, e.g. `process, port, log and HTTP agree`."""

    missing: Reasons = field(default_factory=dict)
