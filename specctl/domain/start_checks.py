"""The checks before a start: what is known to fail is refused, what may fail is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specctl.domain.driver_trouble import remedy_of
from specctl.domain.plan import Check, passed, refused, warned
from specctl.domain.preflight import HubState
from specctl.domain.proof import gib

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.command import ServerArguments
    from specctl.domain.launch_record import ExitRecord, LaunchRecord
    from specctl.domain.preflight import ModelReading, Preflight, SpaceReading, SurvivalReading

DISK_REFUSE_BYTES = 64 * 1024**2
DISK_WARN_BYTES = 2 * 1024**3
SHM_REFUSE_SHARE = 0.05
SHM_WARN_SHARE = 0.2
KILLED = 9
LONGEST_START_S = 1800.0


def check_read_only(reading: Preflight) -> Check:
    """The host's file or the command forbids changes."""
    if reading.host.read_only:
        step = (
            f"Take read_only out of {reading.host.file or 'the host file'}, "
            "or --read-only off the command."
        )
        return refused("read-only", f"{reading.host.name} is read-only", step)
    return passed("read-only", "changes are allowed")


def check_nodes(arguments: ServerArguments) -> Check:
    """One rank of a server over several hosts cannot be started, stopped or proven alone."""
    nodes = arguments.nnodes
    if nodes is None or nodes > 1:
        words = "nnodes cannot be read" if nodes is None else f"nnodes is {nodes}"
        step = "Start the ranks by hand; specctl status shows this host's."
        return refused("nodes", f"{words}: a server over several hosts is not one launch", step)
    return passed("nodes", "one host")


def check_build(reading: Preflight, keys: Sequence[str]) -> Check:
    """SGLang is there, and takes keys from a file when there are keys."""
    build = reading.build
    if build is None or build.path is None:
        python = build.python if build else "the host's Python"
        step = f"specctl doctor {reading.host.name} lists interpreters that have it."
        return refused("sglang", f"{python} has no SGLang", step)
    words = f"{build.version or 'unknown version'} at {build.path}"
    if keys and not build.has_config:
        why = "reads no --config file" if build.has_config is False else "may not read --config"
        return refused(
            "sglang",
            f"{words} {why}, so {', '.join(keys)} would stand in its command line",
            "Take the key out of the profile, or use a build that reads --config.",
        )
    return passed("sglang", words)


def check_driver(reading: Preflight, *, needs_gpus: bool) -> Check | None:
    """Where the driver fails new processes and no running one, nothing is started."""
    missing = reading.sample.gpu_missing
    if not needs_gpus or missing is None:
        return None
    words = missing.detail or str(missing)
    if reading.driver_kernel and reading.driver_kernel not in words:
        words += f"; the kernel module is {reading.driver_kernel}"
    remedy = remedy_of(missing)
    if remedy is not None:
        return refused("driver", words, remedy)
    return warned("driver", f"GPUs cannot be read: {words}", f"specctl doctor {reading.host.name}")


def check_restart(reading: Preflight) -> Check | None:
    """After a stop nothing could be started in the server's place."""
    remedy = remedy_of(reading.sample.gpu_missing)
    if remedy is None:
        return None
    return warned("restart", "a server that is stopped now cannot be started again here", remedy)


def check_model(label: str, model: ModelReading | None, *, is_offline: bool) -> Check:
    """A path is there; a repository is in the cache, or can still be downloaded."""
    if model is None:
        return warned(label, "it was not looked for", "Check the model's path.")
    return _check_path(label, model) if model.is_path else _check_hub(label, model, is_offline)


def _check_path(label: str, model: ModelReading) -> Check:
    if model.exists is False:
        return refused(label, f"{model.name} does not exist on the host", "Check the path.")
    if model.exists is None:
        words = f"{model.name} cannot be looked at: {model.detail}"
        return warned(label, words, "Check who may read it.")
    if model.kind == "directory" and model.has_config is False:
        words = f"{model.name} has no config.json"
        return warned(label, words, "Check that it is a model's own directory.")
    return passed(label, model.name)


def _check_hub(label: str, model: ModelReading, is_offline: bool) -> Check:  # noqa: FBT001
    size = f" of {gib(model.total_bytes)}" if model.total_bytes else ""
    if model.hub is HubState.COMPLETE:
        return passed(label, f"{model.name} is in {model.place}, {gib(model.have_bytes)}")
    if model.hub is HubState.PARTIAL:
        rest = f", {len(model.unfinished)} files unfinished" if model.unfinished else ""
        words = f"{model.name}: {gib(model.have_bytes)}{size} is in {model.place}{rest}"
    elif model.hub is HubState.ABSENT:
        todo = f", {gib(model.total_bytes)} to download" if model.total_bytes else ""
        words = f"{model.name} is not in {model.place}{todo or ', size unknown'}"
    else:
        words = f"{model.name}: {model.place or 'its cache'} cannot be read ({model.detail})"
    if is_offline:
        step = "Download it first, or take HF_HUB_OFFLINE out of the profile."
        return refused(label, f"{words}, and HF_HUB_OFFLINE is set", step)
    return warned(label, words, "The server downloads it first; the load takes that much longer.")


def check_ports(reading: Preflight, ports: Sequence[int], freed_pids: frozenset[int]) -> Check:
    """A port that is taken: SGLang 0.5.23 loads everything and then hangs."""
    taken = {
        port: holder
        for port in ports
        if (holder := reading.ports.get(port)) is not None and holder.pid not in freed_pids
    }
    if not taken:
        return passed("ports", f"free: {', '.join(str(port) for port in ports)}")
    words = ", ".join(f"{port} is held by {holder}" for port, holder in sorted(taken.items()))
    free = next((p for p, h in sorted(reading.ports.items()) if h is None and p not in ports), None)
    suggestion = f"--port {free} is free." if free is not None else "Choose another with --port."
    return refused("ports", words, suggestion)


def check_disk(reading: Preflight) -> Check:
    """Logs and records need room."""
    if reading.state_dir is None:
        why = "; ".join(reading.state_dir_failures) or "none was tried"
        step = "Set state_dir in the host's file to a directory that can be written to."
        return refused("state", f"no state directory can be written to: {why}", step)
    return _space("disk", reading.disk, DISK_REFUSE_BYTES, DISK_WARN_BYTES, reading.state_dir)


def _space(
    name: str, space: SpaceReading | None, refuse_bytes: float, warn_bytes: float, place: str
) -> Check:
    if space is None or space.free_bytes is None:
        why = space.detail if space else "not read"
        return warned(name, f"free space at {place} is not known: {why}", f"df -h {place}")
    words = f"{gib(space.free_bytes)} free of {gib(space.total_bytes)} at {place}"
    if space.free_bytes < refuse_bytes:
        return refused(name, words, f"Free space at {place}.")
    if space.free_bytes < warn_bytes:
        return warned(name, words, f"Free space at {place} before a long run.")
    return passed(name, words)


def check_shm(space: SpaceReading | None) -> Check:
    """A full /dev/shm ends schedulers with a bus error (exit code -7)."""
    total = space.total_bytes if space else None
    if space is None or not total:
        return _space("/dev/shm", space, 0, 0, "/dev/shm")
    found = _space("/dev/shm", space, total * SHM_REFUSE_SHARE, total * SHM_WARN_SHARE, "/dev/shm")
    if not found.next_step:
        return found
    return Check(found.name, found.level, found.words, shm_step(space))


def shm_step(space: SpaceReading) -> str:
    """What to do about a full /dev/shm. Its files do not tell which process made them."""
    held = f"Held by {', '.join(space.owners)}. " if space.owners else ""
    return f"{held}ls -lS /dev/shm shows the files; remove those of processes that ended."


def check_survival(reading: Preflight, survival: SurvivalReading) -> Check:
    """What starts over SSH may end with the last session."""
    enable = f"sudo loginctl enable-linger {reading.user}"
    if survival.kills_processes and not survival.lingers:
        return warned(
            "logout", "KillUserProcesses=yes: the server ends with your last session", enable
        )
    if survival.kills_processes and not survival.has_user_manager:
        words = "KillUserProcesses=yes and no user manager runs: the server ends with this session"
        return warned("logout", words, enable)
    if survival.removes_ipc and not survival.lingers:
        words = "RemoveIPC=yes: /dev/shm of this user is emptied at the last logout"
        return warned("logout", words, enable)
    return passed("logout", "the server outlives the session")


def check_locks(reading: Preflight, keys: Sequence[str]) -> Check | None:
    """Somebody else is applying a plan to the same GPUs or ports."""
    held = [lock for lock in reading.locks if lock.key in keys]
    if not held:
        return None
    words = ", ".join(f"{lock.key} is locked by {lock}" for lock in held)
    return refused("lock", words, "Wait until that is done; the lock ends with its holder.")


def _never_served(record: LaunchRecord, ended: ExitRecord) -> bool:
    """It crashed while it started: nobody saw it ready, nobody stopped it, and it was young.

    One that was left alone before it was ready has no word of that either, but grows old.
    """
    if record.ready_after_s is not None or record.stop_asked_at_s is not None:
        return False
    return record.started_at_s is not None and ended.time_s - record.started_at_s <= LONGEST_START_S


def check_soak(reading: Preflight, port: int) -> Check | None:
    """A server started after a SIGKILL on the same port has been seen to stall under load."""
    before = [r for r in reading.records if r.port == port and r.exit is not None]
    last = max(before, key=lambda r: r.started_at_s or 0.0, default=None)
    if last is None or last.exit is None or last.exit.signal != KILLED:
        return None
    if _never_served(last, last.exit):
        return None
    return warned(
        "soak",
        f"the last server on port {port} ended by SIGKILL; one started after it may look healthy"
        " and stall after about 100 requests",
        "Before relying on it, as the last one on its port was killed: "
        f"specctl probe {reading.host.name} --workload soak, 160 requests.",
    )


def check_secrets(places: Mapping[str, str]) -> Check | None:
    """Every secret that is named is known to the operator's own file."""
    lost = {name: words for name, words in places.items() if words.startswith("not in")}
    if not lost:
        return None
    words = ", ".join(f"{name} is {where}" for name, where in lost.items())
    return refused("secrets", words, 'Add it to that file: NAME = { env = "VARIABLE" }.')


def check_spelled_secrets(keys: Sequence[str]) -> Check | None:
    """A secret in a profile or a host's file ends in command lines, plans and git."""
    if not keys:
        return None
    words = f"spelled out in {', '.join(keys)}; it would stand in command lines and in git"
    return refused(
        "secrets", words, "Write `secret:NAME` there, and let your own file say where it is."
    )
