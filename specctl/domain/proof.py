"""The proof that a server is gone: its processes, the GPU memory they held, its own ports.

Everything is told by pid and start time, never by name. Other servers share the GPUs, so a GPU's
total memory is evidence beside the proof, never the proof.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.sample import GpuSample
    from specctl.domain.server import Identity

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a server."""

    identity: Identity
    title: str
    user: str | None = None
    uid: int | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.identity.pid

    def is_same(self, other: Member) -> bool:
        """The same process, not another one with its pid."""
        mine, its = self.identity, other.identity
        return (mine.boot_id, mine.pid, mine.start_ticks) == (its.boot_id, its.pid, its.start_ticks)


@dataclass(frozen=True, slots=True)
class PortHolder:
    """Who listens on a port."""

    pid: int | None
    """None when that may not be seen."""

    uid: int | None = None
    user: str | None = None
    title: str = ""
    address: str = ""
    is_shared: bool = False
    """The host is a practice host, which shares the ports of its machine with its neighbours."""

    def __str__(self) -> str:
        """`pid 77 nginx (root)`, each part where known."""
        who = self.user or (f"uid {self.uid}" if self.uid is not None else "owner unknown")
        if self.pid is None and self.is_shared:
            return f"a neighbour in the lab, or another process of its machine ({who})"
        pid = f"pid {self.pid}" if self.pid is not None else "a process that cannot be seen"
        return " ".join(part for part in (pid, self.title, f"({who})") if part)


@dataclass(frozen=True, slots=True)
class Look:
    """What can be seen of a server at one moment."""

    members: tuple[Member, ...]
    """Its living processes."""

    ports: Mapping[int, PortHolder | None] = field(default_factory=dict)
    gpus: tuple[GpuSample, ...] | None = None
    """None when no GPU could be asked."""

    other_starts: Mapping[int, int] = field(default_factory=dict)
    """Start ticks of whatever now has the pid of a process that was a member."""

    are_pids_comparable: bool = True
    """GPU processes and /proc number processes alike; false in another pid namespace."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """What keeps a server from being gone."""

    pid: int | None
    user: str | None
    words: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a server is gone, and what says so."""

    gone: bool
    words: str
    survivors: tuple[Survivor, ...] = ()
    memory_freed_bytes: int | None = None
    """GPU memory that its processes held and hold no more; None when that cannot be known."""

    notes: tuple[str, ...] = ()
    """What is odd and does not keep the server from being gone."""

    elapsed_s: float | None = None


def prove_gone(before: Look, after: Look, *, elapsed_s: float | None = None) -> Proof:
    """Compare what a server had with what is there now."""
    alive = tuple(after.members)
    late = _late_memory(before, after)
    port_survivors, notes = _judge_ports(before, after)
    survivors = (*(_survivor(m, after) for m in alive), *late, *port_survivors)
    freed = _freed_bytes(before, after)
    if not after.are_pids_comparable and (before.gpus or after.gpus):
        notes = (*notes, _total_words(before, after))
    elif before.gpus and after.gpus is None:
        notes = (*notes, "GPUs cannot be read any more: their memory is not part of the proof")
    parts = _parts(before, after, freed)
    took = "" if elapsed_s is None else f", in {elapsed_s:.1f} s"
    if not survivors:
        words = f"Gone: {', '.join(parts)}{took}."
    else:
        words = f"Not gone: {', '.join(parts)}{took}. Left: {_listed(survivors)}."
    return Proof(not survivors, words, survivors, freed, notes, elapsed_s)


def _parts(before: Look, after: Look, freed_bytes: int | None) -> list[str]:
    known = {m.pid: m for m in before.members}
    known.update({m.pid: m for m in after.members})
    ended = len(known) - len(after.members)
    free = sum(after.ports.get(port) is None for port in before.ports)
    parts = [f"{ended} of {len(known)} processes"]
    if before.ports:
        parts.append(f"{free} of {len(before.ports)} ports")
    if freed_bytes:
        parts.append(f"{gib(freed_bytes)} of GPU memory")
    return parts


def _survivor(member: Member, after: Look) -> Survivor:
    held = _held_bytes(after.gpus, {member.pid}) if after.are_pids_comparable else {}
    on = ", ".join(f"{gib(size)} on GPU {gpu}" for gpu, size in sorted(held.items()) if size)
    owner = member.user or (f"uid {member.uid}" if member.uid is not None else "owner unknown")
    words = f"pid {member.pid} {member.title} ({owner})" + (f" holds {on}" if on else "")
    return Survivor(member.pid, member.user, words)


def _late_memory(before: Look, after: Look) -> tuple[Survivor, ...]:
    """GPU memory still listed for processes that have ended: the driver is not done with them."""
    if not after.are_pids_comparable:
        return ()
    alive = {member.pid for member in after.members}
    ended = {m.pid for m in before.members if m.pid not in alive and not _is_reused(m, after)}
    found = []
    for gpu in after.gpus or ():
        for process in gpu.processes or ():
            if process.pid in ended:
                size = f"{gib(process.memory_bytes)} of " if process.memory_bytes else ""
                words = f"pid {process.pid} has ended, {size}GPU {gpu.index} is not yet released"
                found.append(Survivor(process.pid, process.user, words))
    return tuple(found)


def _is_reused(member: Member, after: Look) -> bool:
    start = after.other_starts.get(member.pid)
    return start is not None and start != member.identity.start_ticks


def _judge_ports(before: Look, after: Look) -> tuple[tuple[Survivor, ...], tuple[str, ...]]:
    """A port held by somebody unseen survives, one taken by others is only noted."""
    members = {member.pid for member in after.members}
    uids = {member.uid for member in before.members if member.uid is not None}
    survivors, notes = [], []
    for port in before.ports:
        holder = after.ports.get(port)
        if holder is None or holder.pid in members:
            continue  # free, or told already with the process that holds it
        words = f"port {port} is held by {holder}"
        if holder.pid is None and (holder.uid is None or not uids or holder.uid in uids):
            survivors.append(Survivor(None, holder.user, words))
        else:
            notes.append(f"{words}, which is not this server")
    return tuple(survivors), tuple(notes)


def _freed_bytes(before: Look, after: Look) -> int | None:
    """By pid where the driver says; None where it does not or its pids mean nothing here."""
    if before.gpus is None or after.gpus is None or not before.are_pids_comparable:
        return None
    pids = {member.pid for member in before.members}
    held = _held_bytes(before.gpus, pids)
    if any(size is None for size in held.values()):
        return None
    still = _held_bytes(after.gpus, {m.pid for m in before.members if not _is_reused(m, after)})
    return sum((size or 0) - (still.get(gpu) or 0) for gpu, size in held.items())


def _held_bytes(gpus: Iterable[GpuSample] | None, pids: set[int]) -> dict[int, int | None]:
    """GPU memory of the processes by GPU; None where the driver does not say how much."""
    held: dict[int, int | None] = {}
    for gpu in gpus or ():
        sizes = [p.memory_bytes for p in gpu.processes or () if p.pid in pids]
        if sizes:
            known = [size for size in sizes if size is not None]
            held[gpu.index] = sum(known) if len(known) == len(sizes) else None
    return held


def _total_words(before: Look, after: Look) -> str:
    """What is left to say where the driver's pids mean nothing here."""
    words = "whose GPU memory it is cannot be known: the pids are of another namespace"
    was = [gpu.memory_used_bytes for gpu in before.gpus or ()]
    now = [gpu.memory_used_bytes for gpu in after.gpus or ()]
    if not was or len(was) != len(now) or None in (*was, *now):
        return words
    change = sum(size or 0 for size in now) - sum(size or 0 for size in was)
    return f"{words}; in all, {gib(abs(change))} {'less' if change <= 0 else 'more'} is in use"


def _listed(survivors: tuple[Survivor, ...], most: int = 8) -> str:
    words = [survivor.words for survivor in survivors[:most]]
    rest = len(survivors) - most
    return "; ".join(words + ([f"{rest} more"] if rest > 0 else []))


def gib(size_bytes: int | None) -> str:
    """`711 GiB`, `98.6 GiB`, `0.4 GiB`."""
    if size_bytes is None:
        return "unknown memory"
    value = size_bytes / GIB
    return f"{value:.0f} GiB" if value >= 100 else f"{value:.1f} GiB"  # noqa: PLR2004
