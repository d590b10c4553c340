"""What a server runs with, against what its profile says now, what was launched, and what is there.

Four things may differ from each other: the profile's file as it is, the record of the launch, the
command line of the process, and the arguments the engine made of it. The installed tree is a fifth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from specctl.domain.command import parse_argv, server_argv, server_environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.launch_record import LaunchRecord
    from specctl.domain.missing import Reasons
    from specctl.domain.profile import Profile

CHOSEN_AT_LAUNCH = frozenset({"port", "config"})
"""Placement, and the file of keys: of the launch, not of the recipe."""

_PLACED = frozenset({"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"})

COMPARED_WORDS = {
    "argv": "command line", "record": "launch record", "resolved": "resolved arguments",
    "build": "installed build",
}  # fmt: skip
"""What the sides of a comparison are called where their own names would not do."""

Options = dict[str, tuple[str, ...]]


class Cause(StrEnum):
    """Who or what made a difference."""

    PROFILE = "profile"
    """The profile's file was changed since the launch."""

    BY_HAND = "by hand"
    """Its command line is not that of the launch, or of the profile it is said to follow."""

    UPGRADED = "upgraded"
    """The tree was changed under the running server."""

    AT_RUN_TIME = "at run time"
    ENGINE = "engine"
    """The engine resolved an argument to something else than it was told."""

    @property
    def words(self) -> str:
        """As a heading."""
        return _HEADINGS[self]


_HEADINGS = {
    Cause.PROFILE: "changed in the profile since",
    Cause.BY_HAND: "started otherwise",
    Cause.UPGRADED: "upgraded under the running server",
    Cause.AT_RUN_TIME: "changed at run time",
    Cause.ENGINE: "rewritten by the engine",
}


@dataclass(frozen=True, slots=True)
class DriftRow:
    """One difference."""

    key: str
    """A flag without its dashes, `env:NAME`, `recipe`, `python`, `version` or `tree`."""

    cause: Cause
    profile: str | None = None
    """As the profile says it now; None where it says nothing, or there is none."""

    launched: str | None = None
    """As the launch record has it."""

    running: str | None = None
    """As the process was started, or the version the server reports."""

    resolved: str | None = None
    """What the engine made of it; of `version` what is installed now."""

    words: str = ""
    """The engine's rule, or what is known beyond the values."""

    origin: str | None = None
    """`FILE:LINE` of the profile's value; None where it has none."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An argument that the engine resolved to something else."""

    key: str
    asked: str
    got: str
    rule: str = ""
    """Why, where it is known."""

    is_at_run_time: bool = False


@dataclass(frozen=True, slots=True)
class BuildNow:
    """The installed tree that a server was started from, as it is now."""

    path: str
    version: str | None = None
    changed_files: int = 0
    """Sources that changed after the server had started."""

    examples: tuple[str, ...] = ()
    tree_hash: str | None = None
    """Of its sources; None where they were not read."""


@dataclass(frozen=True, slots=True)
class DriftSources:
    """Everything that is compared; None where it could not be had."""

    profile: Profile | None = None
    """As its file is now, for this host."""

    profile_hash: str | None = None
    host: Host | None = None
    record: LaunchRecord | None = None
    argv: tuple[str, ...] = ()
    """Of the process, redacted; empty when it was overwritten."""

    environment: Mapping[str, str] | None = None
    """The process's own values of the variables that the profile sets."""

    rewrites: tuple[Rewrite, ...] = ()
    server_version: str | None = None
    build: BuildNow | None = None


@dataclass(frozen=True, slots=True)
class ServerDrift:
    """What was found of one server."""

    host: str
    server: str
    profile: str | None
    """The name it follows; None when it follows none."""

    launch_id: str | None
    rows: tuple[DriftRow, ...]
    version: str | None = None
    """That the server reports."""

    build: BuildNow | None = None
    missing: Reasons = field(default_factory=dict)
    """Why `profile`, `record`, `argv`, `environment`, `resolved` or `build` was not compared."""

    @property
    def drifted(self) -> tuple[DriftRow, ...]:
        """What a new start of the profile would change; the engine rewrites it again alike."""
        return tuple(row for row in self.rows if row.cause is not Cause.ENGINE)

    @property
    def rewritten(self) -> tuple[DriftRow, ...]:
        """What the engine made otherwise."""
        return tuple(row for row in self.rows if row.cause is Cause.ENGINE)


@dataclass(frozen=True, slots=True)
class Drifts:
    """The running servers of a host, compared."""

    host: str
    servers: tuple[ServerDrift, ...]
    drifted: tuple[str, ...]
    """Names of those that a new start would change."""


def find_drift(sources: DriftSources) -> tuple[DriftRow, ...]:
    """Every difference with its cause, in the order of causes."""
    return (
        *_changed_profile(sources),
        *_started_otherwise(sources),
        *_other_build(sources),
        *(_rewritten(rewrite) for rewrite in sources.rewrites),
    )


def options_of(argv: Sequence[str]) -> Options:
    """Flag to values of a command line, later ones winning."""
    return {option.flag: option.values for option in parse_argv(argv).options}


def _profile_options(profile: Profile) -> Options:
    return options_of(server_argv(profile, python=("python",), port=0))


def _shown(values: tuple[str, ...] | None) -> str | None:
    """A switch that is on is `on`; None when it is not given."""
    return None if values is None else " ".join(values) or "on"


def _different(one: Options, other: Options, ignored: Iterable[str] = ()) -> list[str]:
    keys = [key for key in {**one, **other} if key not in CHOSEN_AT_LAUNCH and key not in ignored]
    return [key for key in keys if one.get(key) != other.get(key)]


def _changed_profile(sources: DriftSources) -> tuple[DriftRow, ...]:
    """Against the record, where the recipe's hash says that something changed."""
    profile, record = sources.profile, sources.record
    if profile is None or record is None or record.is_adopted or not record.profile_hash:
        return ()
    if sources.profile_hash == record.profile_hash:
        return ()
    wanted, launched = _profile_options(profile), options_of(record.argv)
    rows = [
        DriftRow(
            key,
            Cause.PROFILE,
            profile=_shown(wanted.get(key)),
            launched=_shown(launched.get(key)),
            origin=_origin(profile, key),
        )
        for key in _different(wanted, launched)
    ]
    rows += _environment_rows(sources, profile, Cause.PROFILE)
    if rows:
        return tuple(rows)
    words = "arguments are the same: a variable that was taken out, a secret or a corpus changed"
    return (DriftRow("recipe", Cause.PROFILE, words=words),)


def _environment_rows(sources: DriftSources, profile: Profile, cause: Cause) -> list[DriftRow]:
    if sources.environment is None:
        return []
    wanted = server_environment(profile, sources.host)
    return [
        DriftRow(
            f"env:{name}",
            cause,
            profile=value,
            running=sources.environment.get(name),
            origin=_origin(profile, f"env:{name}"),
        )
        for name, value in wanted.items()
        if name not in _PLACED and sources.environment.get(name) != value
    ]


def _origin(profile: Profile, key: str) -> str | None:
    """Where the profile's file says it, whatever table it stands in."""
    names = [f"arguments.{key}", f"speculation.{key.removeprefix('speculative-')}"]
    if key.startswith("env:"):
        names = [f"env.{key.removeprefix('env:')}"]
    elif key == "model-path":
        names = ["model"]
    found = next((origin for name in names if (origin := profile.origin(name))), None)
    return None if found is None else str(found)


def _started_otherwise(sources: DriftSources) -> tuple[DriftRow, ...]:
    """The process against its launch; an adopted one, which had none, against its profile."""
    record, profile = sources.record, sources.profile
    if not sources.argv:
        return ()
    running = options_of(sources.argv)
    if record is not None and not record.is_adopted:
        launched = options_of(record.argv)
        return tuple(
            DriftRow(
                key,
                Cause.BY_HAND,
                launched=_shown(launched.get(key)),
                running=_shown(running.get(key)),
            )
            for key in _different(launched, running)
        )
    if profile is None:
        return ()
    wanted = _profile_options(profile)
    rows = [
        DriftRow(
            key,
            Cause.BY_HAND,
            profile=_shown(wanted.get(key)),
            running=_shown(running.get(key)),
            origin=_origin(profile, key),
        )
        for key in _different(wanted, running)
    ]
    return (*rows, *_environment_rows(sources, profile, Cause.BY_HAND))


def _other_build(sources: DriftSources) -> tuple[DriftRow, ...]:
    """The tree as it is now, against the one the server has in memory."""
    build, record = sources.build, sources.record
    if build is None:
        return ()
    launched = record.version if record is not None else None
    running = sources.server_version or launched
    if running is not None and build.version is not None and running != build.version:
        return (
            DriftRow(
                "version",
                Cause.UPGRADED,
                launched=launched,
                running=running,
                resolved=build.version,
                words=f"{build.path} is {build.version} now; a new start would run that",
            ),
        )
    had = record.tree_hash if record is not None else None
    are_known = had is not None and build.tree_hash is not None
    is_other = had != build.tree_hash if are_known else build.changed_files > 0
    if not is_other:
        return ()
    words = _changed_words(build) if build.changed_files else f"{build.path} has other sources now"
    return (DriftRow("tree", Cause.UPGRADED, launched=had, resolved=build.tree_hash, words=words),)


def _changed_words(build: BuildNow) -> str:
    many = f"{build.changed_files} file{'' if build.changed_files == 1 else 's'}"
    examples = f": {', '.join(build.examples)}" if build.examples else ""
    return f"{many} of {build.path} changed after the start{examples}"


def _rewritten(rewrite: Rewrite) -> DriftRow:
    cause = Cause.AT_RUN_TIME if rewrite.is_at_run_time else Cause.ENGINE
    return DriftRow(
        rewrite.key, cause, running=rewrite.asked, resolved=rewrite.got, words=rewrite.rule
    )
