"""What a host remembers of a server under specctl's care: one directory of small JSON files.

`launch.json` says who it is, `ready.json` how long it took, `stop.json` that a stop was asked for,
`exit.json` how its main process ended. Each is written once, by rename.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from statistics import median
from typing import TYPE_CHECKING, Any

from specctl.domain.server import Identity, Milestone
from specctl.domain.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specctl.domain.host import Host

SCHEMA = "specctl/launch/1"

SHORT_ID = 4
"""How much of a launch id a server is called by."""


def simulated_key(host: Host) -> Mapping[str, bool]:
    """What the record of a launch on a practice host of the lab says besides; else nothing."""
    return {"simulated": True} if host.is_simulated else {}


def choose_launch_id(candidates: Iterable[str], records: Iterable[LaunchRecord]) -> str:
    """The first id whose short form none of `records` is called by, else the first of all.

    Four digits meet by chance: among 200 records two are alike with a chance of a quarter.
    """
    taken = {record.name for record in records}
    ids = list(candidates)
    return next((one for one in ids if one[:SHORT_ID] not in taken), ids[0])


@dataclass(frozen=True, slots=True)
class ExitRecord:
    """How a main process ended, as its recorder saw it."""

    status: int | None
    """The exit status; None when a signal ended it."""

    signal: int | None
    time_s: float

    @property
    def shell_status(self) -> int:
        """As a shell would say it: 128 + N for signal N."""
        return self.status if self.status is not None else 128 + (self.signal or 0)


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """One server that was launched or adopted."""

    launch_id: str
    """Eight hexadecimal digits."""

    identity: Identity
    uid: int | None = None
    profile: str | None = None
    profile_hash: str = ""
    """Of the complete recipe, so that a changed file can be told from the one that was launched."""

    argv: tuple[str, ...] = ()
    """Redacted."""

    model: str | None = None
    port: int | None = None
    ports: tuple[int, ...] = ()
    """Its own: the one it serves on and those derived from it."""

    gpus: tuple[int, ...] | None = None
    state_dir: str = ""
    log_path: str | None = None
    started_at_s: float | None = None
    """By the host's clock; None for an adopted server whose age could not be told."""

    launched_by: str = ""
    """`user@machine`."""

    workspace_commit: str | None = None
    """Of the git repository that its profile came from, `-dirty` when files differed from it."""

    version: str | None = None
    """Of the SGLang that was launched, as it was installed then; None where it did not say."""

    tree_hash: str | None = None
    """Of its sources; None where they were not read."""

    login_session: str | None = None
    """Whose control group holds it (systemd-logind); None outside any."""

    host_restarted: bool = False
    """Since the launch."""

    session_closed: bool = False
    """Its login session has ended since."""

    is_adopted: bool = False
    members: tuple[Identity, ...] = ()
    """An adopted server's processes at that moment: it has no marker to find them by."""

    reached: tuple[tuple[Milestone, float], ...] = ()
    """Milestones and the seconds after the launch at which each was reached."""

    ready_after_s: float | None = None
    stop_asked_at_s: float | None = None
    exit: ExitRecord | None = None

    @property
    def name(self) -> str:
        """What the server is called on its host."""
        return self.launch_id[:SHORT_ID]

    @property
    def ended_with(self) -> str | None:
        """What ended it and its recorder alike; None where its end was recorded, or nothing did."""
        if self.exit is not None:
            return None
        if self.host_restarted:
            return "the host was restarted"
        if self.session_closed:
            kept = "loginctl enable-linger keeps later ones"
            return f"login session {self.login_session} was closed ({kept})"
        return None

    @property
    def directory(self) -> str:
        """Where the record and the log lie on the host."""
        return f"{self.state_dir}/launches/{self.launch_id}"


@dataclass(frozen=True, slots=True)
class LoadTimes:
    """How long earlier loads of the same recipe took on the same host."""

    ready_s: float
    reached: Mapping[Milestone, float] = field(default_factory=dict)
    loads: int = 1

    def remaining_s(self, milestone: Milestone, elapsed_s: float, at_s: float) -> float:
        """Time left, `elapsed_s` into a load that reached `milestone` at `at_s`.

        What followed that milestone in earlier loads, less what has passed since; never below 0.
        """
        before = self.reached.get(milestone)
        if before is None:
            return max(0.0, self.ready_s - elapsed_s)
        return max(0.0, (self.ready_s - before) - (elapsed_s - at_s))


def load_times(
    records: Iterable[LaunchRecord], profile: str, *, latest: int = 5
) -> LoadTimes | None:
    """The medians over the latest loads of `profile` that became ready; None without one."""
    done = [r for r in records if r.profile == profile and r.ready_after_s is not None]
    done = sorted(done, key=lambda r: r.started_at_s or 0.0)[-latest:]
    if not done:
        return None
    times: dict[Milestone, list[float]] = {}
    for record in done:
        for milestone, at_s in record.reached:
            times.setdefault(milestone, []).append(at_s)
    return LoadTimes(
        ready_s=median(r.ready_after_s for r in done if r.ready_after_s is not None),
        reached={milestone: median(values) for milestone, values in times.items()},
        loads=len(done),
    )


def identity_mapping(identity: Identity) -> dict[str, Any]:
    """An identity as JSON has it."""
    return {
        "boot_id": identity.boot_id,
        "pid": identity.pid,
        "start_ticks": identity.start_ticks,
        "pgid": identity.pgid,
        "sid": identity.sid,
        "marker": identity.marker,
    }


def read_identity(value: Mapping[str, Any]) -> Identity:
    """An identity from its JSON; raises KeyError, TypeError or ValueError when it is none."""
    return Identity(
        boot_id=str(value["boot_id"]),
        pid=int(value["pid"]),
        start_ticks=int(value["start_ticks"]),
        pgid=int(value["pgid"]),
        sid=int(value["sid"]),
        marker=str(value.get("marker", "")),
    )


def read_launch(value: Mapping[str, Any]) -> LaunchRecord | None:
    """A record from what the host's reader answered; None when it cannot be understood.

    `value` is `{"state_dir", "launch": …, "ready": …|null, "stop": …|null, "exit": …|null}`.
    """
    launch = value.get("launch")
    if not isinstance(launch, dict) or launch.get("schema") != SCHEMA:
        return None
    try:
        return _read_launch(launch, value)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None


def _read_launch(launch: Mapping[str, Any], value: Mapping[str, Any]) -> LaunchRecord:
    ready, stop, ended = value.get("ready") or {}, value.get("stop") or {}, value.get("exit")
    return LaunchRecord(
        launch_id=str(launch["launch_id"]),
        identity=read_identity(launch["identity"]),
        uid=_number(launch.get("uid")),
        profile=_text(launch.get("profile")),
        profile_hash=str(launch.get("profile_hash", "")),
        argv=tuple(clean(str(item)) for item in launch.get("argv", ())),
        model=_text(launch.get("model")),
        port=_number(launch.get("port")),
        ports=tuple(int(port) for port in launch.get("ports", ())),
        gpus=None if launch.get("gpus") is None else tuple(int(gpu) for gpu in launch["gpus"]),
        state_dir=str(value.get("state_dir", "")),
        log_path=_text(launch.get("log_path")),
        started_at_s=_seconds(launch.get("started_at_s")),
        launched_by=clean(str(launch.get("launched_by", ""))),
        workspace_commit=_text(launch.get("workspace_commit")),
        version=_text(launch.get("version")),
        tree_hash=_text(launch.get("tree_hash")),
        login_session=_text(launch.get("login_session")),
        host_restarted=value.get("host_restarted") is True,
        session_closed=value.get("session_closed") is True,
        is_adopted=bool(launch.get("is_adopted", False)),
        members=tuple(read_identity(member) for member in launch.get("members", ())),
        reached=tuple(
            (Milestone(name), float(at_s)) for name, at_s in ready.get("reached", {}).items()
        ),
        ready_after_s=_seconds(ready.get("ready_after_s")),
        stop_asked_at_s=_seconds(stop.get("time_s")),
        exit=_read_exit(ended) if isinstance(ended, dict) else None,
    )


def read_exit(value: object) -> ExitRecord | None:
    """How a main process ended, from `exit.json`; None when it cannot be understood."""
    try:
        return _read_exit(value) if isinstance(value, dict) else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _read_exit(value: Mapping[str, Any]) -> ExitRecord:
    return ExitRecord(
        _number(value.get("status")), _number(value.get("signal")), float(value["time_s"])
    )


def _number(value: Any) -> int | None:
    return None if value is None else int(value)


def _seconds(value: Any) -> float | None:
    """A time; raises ValueError when it is not finite."""
    if value is not None and not isfinite(value):
        raise ValueError("not a time")
    return None if value is None else float(value)


def _text(value: Any) -> str | None:
    return None if value is None else clean(str(value))
