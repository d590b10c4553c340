"""The arguments as they are written, by a profile or on a command line."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specctl.domain import flags
from specctl.domain.arguments import looks_like_flag, render
from specctl.domain.command import server_environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.host import Host
    from specctl.domain.profile import Profile, Value


@dataclass(frozen=True, slots=True)
class Written:
    """One flag as it is written."""

    flag: str
    """Without its two dashes."""

    values: tuple[str, ...] = ()
    is_joined: bool = False
    """`--flag=value`, one word."""

    key: str = ""
    """Of the profile, dotted; the flag with its dashes on a command line."""


@dataclass(frozen=True, slots=True)
class Given:
    """Everything that is written for one server."""

    written: tuple[Written, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stray: tuple[str, ...] = ()
    """Words that belong to no flag."""

    names: Mapping[str, str] = field(default_factory=dict)
    """Flag, in its first spelling, to the key it was written under; filled by the build's flags."""

    def has(self, flag: str) -> bool:
        """It is written, in whatever spelling."""
        return flag in self.names

    def typed(self, flag: str) -> str:
        """The last value written for exactly this flag; empty without one."""
        values = [w.values[-1] for w in self.written if w.flag == flag and w.values]
        return values[-1] if values else ""

    def key(self, flag: str) -> str:
        """Where in the profile it is about: `speculation.num-steps`."""
        if flag.startswith("env:"):
            return f"env.{flag.removeprefix('env:')}"
        if flag in self.names:
            return self.names[flag]
        if flag in PLAIN_KEYS:
            return flag
        if flag.startswith(flags.SPECULATION_PREFIX):
            return f"speculation.{flag.removeprefix(flags.SPECULATION_PREFIX)}"
        return f"arguments.{flag}"


PLAIN_KEYS = frozenset({"model", "corpora", "placement.gpus", "baseline", ""})


def given_by_profile(profile: Profile, host: Host | None = None) -> Given:
    """The flags of a profile in the order its command line has them, and its environment."""
    written = [_rendered("model-path", profile.model, "model")]
    for flag, value in profile.arguments.items():
        written.append(_rendered(flag, value, f"arguments.{flag}"))
    if profile.speculation is not None:
        algorithm = profile.speculation.algorithm
        written.append(_rendered("speculative-algorithm", algorithm, "speculation.algorithm"))
        for key, value in profile.speculation.arguments.items():
            flag = flags.SPECULATION_PREFIX + key
            written.append(_rendered(flag, value, f"speculation.{key}"))
    kept = tuple(item for item in written if item is not None)
    return Given(kept, server_environment(profile, host))


def _rendered(flag: str, value: Value, key: str) -> Written | None:
    """None for a switch that is off, which no word of the command line stands for."""
    words = render(flag, value)
    if not words:
        return None
    name, equals, joined = words[0].removeprefix("--").partition("=")
    if equals:
        return Written(name, (joined,), is_joined=True, key=key)
    return Written(name, tuple(words[1:]), key=key)


def given_by_argv(options: Sequence[str], environment: Mapping[str, str] | None = None) -> Given:
    """The flags of a command line after `sglang serve` or `-m sglang.launch_server`."""
    written: list[Written] = []
    stray: list[str] = []
    at = 0
    while at < len(options):
        word = options[at]
        at += 1
        if not looks_like_flag(word) or not word.startswith("--"):
            stray.append(word)
            continue
        name, equals, joined = word.removeprefix("--").partition("=")
        if equals:
            written.append(Written(name, (joined,), is_joined=True, key=f"--{name}"))
            continue
        end = at
        while end < len(options) and not looks_like_flag(options[end]):
            end += 1
        written.append(Written(name, tuple(options[at:end]), key=f"--{name}"))
        at = end
    return Given(tuple(written), environment or {}, tuple(stray))


def as_json(text: str) -> object | None:
    """A text that is JSON; None for anything else."""
    try:
        read: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return read
