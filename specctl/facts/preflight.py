"""What an agent answered before a plan, as the plan's readings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specctl.domain.figures import gib
from specctl.domain.launch_record import read_identity, read_launch
from specctl.domain.preflight import (
    BuildReading,
    LockHolder,
    ModelReading,
    SpaceReading,
    SurvivalReading,
)
from specctl.domain.proof import Member, PortHolder
from specctl.facts.readings import counted, mapping, number, read_text, rows, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.server import ServerProcess

HOST_PID_NAMESPACE = "pid:[4026531836]"
"""The first pid namespace of every Linux kernel (PROC_PID_INIT_INO)."""


def are_pids_comparable(pid_namespace: str | None, enter: Sequence[str]) -> bool:
    """Whether a driver's pids are those of the agent's /proc.

    Unknown counts as not: an owner that is not known must not be taken for a stranger.
    """
    return pid_namespace == HOST_PID_NAMESPACE and not enter


def read_records(answer: Mapping[str, Any]) -> tuple[LaunchRecord, ...]:
    """The launch records of a host, newest first; what cannot be understood is left out."""
    found = [read_launch(row) for row in rows(answer.get("records"))]
    return tuple(record for record in found if record is not None)


def read_ports(
    answer: Mapping[str, Any], processes: Iterable[ServerProcess] = ()
) -> dict[int, PortHolder | None]:
    """Each port that was asked for with its holder; None where nothing listens."""
    known = {process.identity.pid: process for process in processes}
    return {
        at: _holder(mapping(row), known) if row is not None else None
        for port, row in answer.items()
        if (at := counted(str(port))) is not None
    }


def _holder(row: Mapping[str, Any], known: Mapping[int, ServerProcess]) -> PortHolder:
    pid = whole(row.get("owner_pid"))
    process = known.get(pid) if pid is not None else None
    return PortHolder(
        pid=pid,
        uid=whole(row.get("uid")),
        user=process.user if process else read_text(row.get("user")) or None,
        title=process.title if process else read_text(row.get("title")),
        address=read_text(row.get("address")),
    )


def read_space(path: str, row: object) -> SpaceReading:
    """One file system of the `disk` op."""
    found = mapping(row)
    error = mapping(found.get("error"))
    return SpaceReading(
        path,
        whole(found.get("total")),
        whole(found.get("free")),
        read_text(error.get("message")),
        tuple(_owner_words(row) for row in rows(found.get("owners")) if whole(row.get("bytes"))),
    )


def _owner_words(row: Mapping[str, Any]) -> str:
    who = read_text(row.get("owner")) or f"uid {whole(row.get('uid'))}"
    return f"{who} {gib(whole(row.get('bytes')))} GiB in {whole(row.get('files')) or 0} files"


def read_model_path(name: str, row: object, config: object) -> ModelReading:
    """A model's path, from the `stat` op on it and on its config.json."""
    found, inner = mapping(row), mapping(config)
    exists, has_config = found.get("exists"), inner.get("exists")
    return ModelReading(
        name,
        is_path=True,
        exists=exists if isinstance(exists, bool) else None,
        kind=read_text(found.get("kind")),
        has_config=has_config if isinstance(has_config, bool) else None,
        owner=read_text(found.get("owner")) or None,
        detail=read_text(mapping(found.get("error")).get("message")),
    )


def read_locks(answer: Mapping[str, Any]) -> tuple[LockHolder, ...]:
    """The locks that somebody holds."""
    return tuple(
        read_lock(read_text(row.get("key")), row.get("holder")) for row in rows(answer.get("held"))
    )


def read_lock(key: str, holder: object) -> LockHolder:
    """One lock; what its file says of the holder is only words."""
    found = mapping(holder)
    return LockHolder(
        key=key,
        who=read_text(found.get("who")) or "somebody",
        process=read_text(found.get("process")),
        since_s=number(found.get("since_s")),
        pid=whole(found.get("pid")),
    )


def read_members(answer: Mapping[str, Any]) -> tuple[Member, ...]:
    """The living processes of a server, from the signaller's answer."""
    return tuple(
        Member(
            identity=read_identity(row["identity"]),
            title=title_of(row),
            uid=whole(row.get("uid")),
            user=read_text(row.get("user")) or None,
        )
        for row in rows(answer.get("members"))
    )


def title_of(row: Mapping[str, Any]) -> str:
    """What a process calls itself: its renamed title, else the command it runs."""
    argv = [read_text(item) for item in row.get("argv") or () if isinstance(item, str)]
    if len(argv) == 1 and argv[0]:
        return argv[0].split(" ")[0]
    return read_text(row.get("title"))


def read_faults(reading: object) -> tuple[str, ...] | None:
    """The fault lines of the kernel log as the doctor op read them; None when it could not."""
    lines = mapping(reading).get("lines")
    if not isinstance(lines, list):
        return None
    return tuple(words for line in lines if (words := read_text(line)))


def read_survival(reading: object) -> SurvivalReading:
    """Logind's settings as the doctor op reads them; what loginctl says wins over the files."""
    found = mapping(reading)
    if found.get("systemd") is False:
        return SurvivalReading(kills_processes=False, removes_ipc=False)
    asked, settings = mapping(found.get("loginctl")), mapping(found.get("settings"))

    def said(key: str) -> bool | None:
        setting = mapping(settings.get(key)).get("value")
        return _yes(asked.get(key)) if asked.get(key) is not None else _yes(setting)

    lingers, manager = found.get("linger"), found.get("user_manager")
    asked_lingers = _yes(asked.get("Linger"))
    return SurvivalReading(
        kills_processes=said("KillUserProcesses"),
        lingers=asked_lingers if asked_lingers is not None else lingers,
        has_user_manager=manager if isinstance(manager, bool) else None,
        removes_ipc=said("RemoveIPC"),
    )


def _yes(word: object) -> bool | None:
    """systemd.syntax(7): booleans."""
    if not isinstance(word, str):
        return None
    return {"yes": True, "true": True, "1": True, "on": True}.get(word.lower(), False)


def read_state_dir(reading: object) -> tuple[str | None, tuple[str, ...]]:
    """The first directory that can hold state, and what was wrong with those before it."""
    failures: list[str] = []
    for row in rows(reading):
        path = read_text(row.get("path"))
        if row.get("usable") is True:
            return path, tuple(failures)
        failures.append(f"{path}: {read_text(row.get('call'))}: {read_text(row.get('error'))}")
    return None, tuple(failures)


def read_builds(answer: Mapping[str, Any]) -> tuple[BuildReading, ...]:
    """The interpreters that have SGLang, in the order in which they were found."""
    found = []
    for row in rows(answer.get("found")):
        tree = mapping(row.get("sglang"))
        if tree:
            path, version = read_text(tree.get("path")), read_text(tree.get("version"))
            found.append(BuildReading(read_text(row.get("path")), version or None, path or None))
    return tuple(found)


def config_readers(tree: str) -> tuple[str, ...]:
    """The module that reads `--config`, where it lies up to 0.5.18 and since."""
    name = "server_args_config_parser.py"
    return f"{tree}/srt/{name}", f"{tree}/srt/utils/{name}"
