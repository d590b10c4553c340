"""The files of a launch's directory on its host, as they are written: `specctl.agent.oneshot`.

`specctl.domain.launch_record` reads them. A key that may be missing depends on how the server came
under care, or on the version that wrote the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specctl.domain.server import Identity, Milestone


class LaunchFile(TypedDict):
    """`launch.json`: who a server under specctl's care is."""

    schema: Literal["specctl/launch/1"]
    launch_id: str
    """Eight hexadecimal digits."""

    identity: Identity
    uid: int | None
    """The user it runs as; None when /proc does not say."""

    profile: str | None
    """None when it was adopted and follows none."""

    profile_hash: NotRequired[str]
    """Of the complete recipe; not of an adopted server."""

    argv: list[str]
    """Redacted."""

    model: str | None
    """None when its command line does not name one."""

    port: int | None
    """The port it serves on; None when that is not known."""

    ports: list[int]
    """Its own: the one it serves on and those derived from it."""

    gpus: list[int] | None
    """As the driver numbers them; None when they are not known."""

    log_path: str | None
    """None when an adopted server's output goes to no file."""

    started_at_s: float | None
    """By the host's clock, Unix seconds; None for an adopted server whose age was not known."""

    launched_by: str
    """`user@machine` of the operator."""

    workspace_commit: NotRequired[str | None]
    """Of the git repository that its profile came from, `-dirty` when files differed from it."""

    version: NotRequired[str | None]
    """Of the SGLang that was launched, as it was installed then; None where it did not say."""

    tree_hash: NotRequired[str | None]
    """Of its sources; None where they were not read."""

    login_session: NotRequired[str | None]
    """Whose control group holds it, as systemd-logind calls it; None outside any."""

    simulated: NotRequired[bool]
    """Its host is a practice host of the lab."""

    is_adopted: NotRequired[bool]
    """It was started some other way."""

    members: NotRequired[list[Identity]]
    """An adopted server's processes at that moment."""


class ReadyFile(TypedDict):
    """`ready.json`: how long a start took."""

    schema: Literal["specctl/ready/1"]
    time_s: float
    """When it was written, by the host's clock, Unix seconds."""

    reached: Mapping[Milestone, float]
    """Milestones and the seconds after the launch at which each was reached."""

    ready_after_s: float


class StopFile(TypedDict):
    """`stop.json`: a stop was asked for, so the exit that follows is no crash."""

    schema: Literal["specctl/stop/1"]
    time_s: float
    """By the host's clock, Unix seconds."""

    asked_by: str
    """`user@machine` of the operator."""


class ExitFile(TypedDict):
    """`exit.json`: how the main process ended, as its recorder saw it."""

    schema: Literal["specctl/exit/1"]
    launch_id: str
    pid: int
    status: int | None
    """The exit status; None when a signal ended it."""

    signal: int | None
    """Its number; None when it ended by itself."""

    time_s: float
    """By the host's clock, Unix seconds."""
