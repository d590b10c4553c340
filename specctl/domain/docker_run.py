"""A `docker run` command: the command inside, its variables, and what stays outside.

Source: docker run reference (podman and nerdctl take the same options).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_PROGRAMS = frozenset({"docker", "podman", "nerdctl"})
_SWITCHES = frozenset(
    {
        "--detach", "--init", "--interactive", "--no-healthcheck", "--oom-kill-disable",
        "--privileged", "--publish-all", "--quiet", "--read-only", "--rm", "--sig-proxy", "--tty",
    }
)  # fmt: skip
_SHORT_SWITCHES = re.compile(r"-[ditPq]+")
_SHORT_WITH_VALUE = re.compile(r"(?P<option>-\w)(?P<value>.+)", re.DOTALL)
_LONG_NAMES = {"-e": "--env", "-p": "--publish", "-v": "--volume", "-w": "--workdir"}
_DEVICES = re.compile(r'"?device=([0-9,]+)"?')


@dataclass(slots=True)
class DockerRun:
    """What a `docker run` says."""

    image: str = ""
    words: tuple[str, ...] = ()
    """The command inside the container, its entry point first when one is given."""

    environment: dict[str, str | None] = field(default_factory=dict)
    """None for a variable passed through without a value."""

    gpus: tuple[int, ...] | None = None
    remarks: list[str] = field(default_factory=list)


def docker_start(words: Sequence[str]) -> int | None:
    """Where the options of `docker run` begin; None when this is none."""
    for i, word in enumerate(words):
        if word.rpartition("/")[2] in _PROGRAMS:
            rest = list(words[i + 1 : i + 3])
            if "run" in rest:
                return i + 2 + rest.index("run")
    return None


def read_docker_run(words: Sequence[str]) -> DockerRun:
    """Options up to the image, then the command; `words` begin after `run`."""
    run = DockerRun()
    at = 0
    while at < len(words) and words[at].startswith("-"):
        option, equals, value = words[at].partition("=")
        at += 1
        if option in _SWITCHES or _SHORT_SWITCHES.fullmatch(option):
            continue
        joined = _SHORT_WITH_VALUE.fullmatch(words[at - 1])
        if joined:
            option, value = joined["option"], joined["value"]
        elif not equals:
            value = words[at] if at < len(words) else ""
            at += 1
        _option(run, _LONG_NAMES.get(option, option), value)
    run.image = words[at] if at < len(words) else ""
    run.words = (*run.words, *words[at + 1 :])
    if run.image:
        run.remarks.append(f"container image {run.image}")
    return run


def _option(run: DockerRun, option: str, value: str) -> None:
    match option:
        case "--env":
            name, equals, content = value.partition("=")
            run.environment[name] = content if equals else None
        case "--gpus":
            match = _DEVICES.fullmatch(value)
            if match:
                run.gpus = tuple(int(part) for part in match[1].split(",") if part)
            elif value != "all":
                run.remarks.append(f"--gpus {value} is not understood")
        case "--publish":
            run.remarks.append(f"port published as {value} outside the container")
        case "--volume" | "--mount":
            run.remarks.append(f"{option.removeprefix('--')} {value}")
        case "--entrypoint":
            run.words = (value,)
        case "--env-file":
            run.remarks.append(f"--env-file {value} is not read: add what it sets")
        case _:
            run.remarks.append(f"{option} {value} is left out".replace("  ", " "))
