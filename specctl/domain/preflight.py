"""What is read from a host before a plan is made; None where something could not be known."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.checkpoint.values import ModelConfig
    from specctl.domain.host import Host
    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.lint.plan_checks import ProfileReading
    from specctl.domain.proof import PortHolder
    from specctl.domain.sample import Sample
    from specctl.domain.server import Server


class HubState(StrEnum):
    """How much of a repository a host's Hugging Face cache holds."""

    COMPLETE = "complete"
    PARTIAL = "partial"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ModelReading:
    """A model path or repository, looked for on the host."""

    name: str
    """As the profile writes it."""

    is_path: bool
    exists: bool | None = None
    """Of a path; None when it may not be looked at."""

    kind: str = ""
    has_config: bool | None = None
    """Of a directory: it has a config.json."""

    owner: str | None = None
    hub: HubState = HubState.UNKNOWN
    place: str = ""
    """Where it was looked for."""

    have_bytes: int | None = None
    total_bytes: int | None = None
    """Of the whole repository, when an index in the cache tells."""

    unfinished: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SpaceReading:
    """One file system."""

    path: str
    total_bytes: int | None
    free_bytes: int | None
    detail: str = ""
    owners: tuple[str, ...] = ()
    """Who fills it, most first: `aw 18.0 GiB in 852 files`; only known of /dev/shm."""


@dataclass(frozen=True, slots=True)
class SurvivalReading:
    """What ends a user's processes after logout (logind.conf(5))."""

    kills_processes: bool | None = None
    lingers: bool | None = None
    has_user_manager: bool | None = None
    removes_ipc: bool | None = None


@dataclass(frozen=True, slots=True)
class BuildReading:
    """The SGLang that would run."""

    python: str
    version: str | None = None
    path: str | None = None
    has_config: bool | None = None
    """It reads `--config FILE`, so keys need not be on the command line."""


@dataclass(frozen=True, slots=True)
class LockHolder:
    """Who applies a plan at this moment."""

    key: str
    who: str
    process: str = ""
    since_s: float | None = None
    pid: int | None = None

    def __str__(self) -> str:
        """`aw@laptop (specctl start, pid 7 on the host)`."""
        detail = ", ".join(
            part for part in (self.process, f"pid {self.pid}" * bool(self.pid)) if part
        )
        return self.who + (f" ({detail})" if detail else "")


@dataclass(frozen=True, slots=True)
class Preflight:
    """Everything a plan is made from."""

    host: Host
    user: str
    sample: Sample
    servers: tuple[Server, ...] = ()
    records: tuple[LaunchRecord, ...] = ()
    are_pids_comparable: bool = True
    """The driver and /proc number processes alike; false in a container's pid namespace."""

    ports: Mapping[int, PortHolder | None] = field(default_factory=dict)
    """Those the plan may want, and some after it."""

    models: Mapping[str, ModelReading] = field(default_factory=dict)
    configs: Mapping[str, ModelConfig] = field(default_factory=dict)
    """What `config.json` of those models says; only of a target that has a draft, and the draft."""

    disk: SpaceReading | None = None
    """Of the state directory."""

    shm: SpaceReading | None = None
    state_dir: str | None = None
    state_dir_failures: tuple[str, ...] = ()
    survival: SurvivalReading = field(default_factory=SurvivalReading)
    build: BuildReading | None = None
    driver_kernel: str | None = None
    """Version of the loaded kernel module."""

    driver_faults: tuple[str, ...] | None = None
    """The driver's lines in the kernel log (Xid), oldest first; None when it may not be read."""

    locks: tuple[LockHolder, ...] = ()
    profile: ProfileReading | None = None
    """The profile, checked against the build; None where no profile is to be started."""

    is_offline: bool = False
    """Nothing can be downloaded: HF_HUB_OFFLINE is set for the server."""


@dataclass(frozen=True, slots=True)
class StartOptions:
    """What the command adds to the profile."""

    replace: bool = False
    gpus: tuple[int, ...] | None = None
    port: int | None = None
    unchecked: bool = False
    """Errors that a check of the profile finds do not refuse the start."""
