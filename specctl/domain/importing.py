"""A profile made of a launch command, a script, a unit or a running process.

Flags are kept as they were written, also those that the newest SGLang lacks; secrets are replaced
by names; what is not understood is kept as a comment and remarked on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from specctl.domain import flags
from specctl.domain.arguments import placeholders, takes_nothing
from specctl.domain.command import options_start, parse_argv, shell_join
from specctl.domain.contradictions import looks_like_key, masked, names_a_secret
from specctl.domain.docker_run import docker_start, read_docker_run
from specctl.domain.errors import UsageError
from specctl.domain.nearest import nearest
from specctl.domain.profile import SECRET_PREFIX
from specctl.domain.shell_script import read_script
from specctl.domain.systemd_unit import looks_like_unit, read_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specctl.domain.arguments import Option
    from specctl.domain.command import ServerArguments
    from specctl.domain.shell_script import Command

_NO_SERVER = "starts no SGLang server that is recognised"
_HINT = "known forms: python -m sglang.launch_server …, sglang serve …, docker run … of either"
_WRAPPERS = frozenset({"exec", "nohup", "env", "setsid", "sudo", "time", "command"})
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


@dataclass(slots=True)
class Launch:
    """A server's command line with what surrounds it."""

    words: tuple[str, ...]
    environment: dict[str, str | None] = field(default_factory=dict)
    """None for a variable that is passed through from outside."""

    gpus: tuple[int, ...] | None = None
    remarks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """A profile in the making: what goes into its file, and what to tell the operator."""

    values: dict[str, Any] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    """What was not understood or has no place in a profile, to be kept in the file."""

    remarks: list[str] = field(default_factory=list)
    """For the operator."""

    secrets: dict[str, str] = field(default_factory=dict)
    """Name of a secret to where its value stood."""

    def table(self, name: str) -> dict[str, Any]:
        """One of its tables, made on first use."""
        table: dict[str, Any] = self.values.setdefault(name, {})
        return table

    def keep(self, text: str) -> None:
        """Keep something as a comment, and say so."""
        text = masked(text)
        if text not in self.comments:
            self.comments.append(text)
            self.remarks.append(f"kept as a comment: {text}")


def draft_from_text(text: str) -> Draft:
    """A profile from a launch command, a shell script or a systemd unit."""
    if looks_like_unit(text):
        unit = read_unit(text)
        environment: dict[str, str | None] = {**unit.environment}
        launch = unwrapped(Launch(unit.words, environment, remarks=list(unit.remarks)))
        if launch is None:
            raise UsageError(f"the unit {_NO_SERVER}", hint=_HINT)
        return draft_from_launch(launch)
    return draft_from_launch(_launch_of_script(text))


def draft_from_argv(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> Draft:
    """A profile from the command line of a process that runs; no quoting is left to read."""
    return draft_from_launch(Launch(tuple(argv), {**(environment or {})}))


def _launch_of_script(text: str, depth: int = 0) -> Launch:
    script = read_script(text)
    launch: Launch | None = None
    leftovers: list[str] = []
    for command in script.commands:
        found = _launch_of(command, depth) if launch is None else None
        if found is None:
            leftovers.append(f"line {command.line}: {shell_join(command.words)}")
        else:
            launch = found
            if command.redirections:
                launch.remarks.append(f"output: {' '.join(command.redirections)}")
    if launch is None:
        raise UsageError(f"the text {_NO_SERVER}", hint=_HINT)
    launch.remarks = [*script.remarks, *launch.remarks, *leftovers]
    return launch


def _launch_of(command: Command, depth: int) -> Launch | None:
    words = command.words
    if words[0].rpartition("/")[2] in _SHELLS and "-c" in words and depth == 0:
        inner = words[words.index("-c") + 1 : words.index("-c") + 2]
        if inner and "sglang" in inner[0]:
            launch = _launch_of_script(inner[0], depth + 1)
            launch.environment = {**command.environment, **launch.environment}
            return launch
    return unwrapped(Launch(words, {**command.environment}))


def unwrapped(launch: Launch) -> Launch | None:
    """The server's own command out of `docker run`, `env`, `nohup` …; None when there is none."""
    words = launch.words
    start = docker_start(words)
    if start is not None:
        run = read_docker_run(words[start:])
        environment: dict[str, str | None] = {**run.environment}
        inner = Launch(run.words, environment, run.gpus, [*launch.remarks, *run.remarks])
        return unwrapped(inner) or _bare_options(inner)
    begin = options_start(words)
    if begin is None:
        return None
    first = _first_word(words, begin)
    for word in words[:first]:
        name, equals, value = word.partition("=")
        if equals and name.isidentifier():
            launch.environment[name] = value
    outside = [w for w in words[:first] if "=" not in w and w not in _WRAPPERS]
    if outside:
        launch.remarks.append(f"run under: {shell_join(outside)}")
    launch.words = words[first:]
    return launch


def _bare_options(launch: Launch) -> Launch | None:
    """An image whose entry point is the server: only its options are given."""
    if not any(word.startswith("--model") for word in launch.words):
        return None
    launch.words = ("python3", "-m", "sglang.launch_server", *launch.words)
    return launch


def _first_word(words: Sequence[str], begin: int) -> int:
    """Where the server's program stands: what starts with `python`, or the word with the name."""
    if words[begin - 1] == "serve":
        return begin - 2
    for i in range(begin - 1, -1, -1):
        if words[i].rpartition("/")[2].startswith("python"):
            return i
    return begin - 1


def draft_from_launch(launch: Launch) -> Draft:
    """Lay a command line out as the tables of a profile."""
    draft = Draft()
    arguments = parse_argv(launch.words)
    _model(draft, arguments)
    if "/" in (program := arguments.command[0] if arguments.command else ""):
        launch.remarks.append(f"started with {program}: `python` in the file of its host")
    for option in arguments.options:
        if option.flag not in {"model-path", "port"}:
            _argument(draft, option)
    for word in launch.words:
        if word.startswith("--config="):
            draft.keep(f"{word}: SGLang ignores this form in silence; it reads --config FILE")
    if arguments.config is not None:
        draft.remarks.append(f"--config {arguments.config}: the flags in that file are not read")
    for word in arguments.stray:
        draft.keep(f"a word that belongs to no flag: {word}")
    _environment(draft, launch.environment)
    _placement(draft, arguments, launch)
    for remark in launch.remarks:
        draft.keep(remark)
    return draft


def _model(draft: Draft, arguments: ServerArguments) -> None:
    draft.values["model"] = arguments.model or "<model>"
    if arguments.model is None:
        draft.remarks.append("no --model-path: fill in `model`")


def _argument(draft: Draft, option: Option) -> None:
    flag, value = option.flag, _typed(option)
    if not option.is_clear:
        _remark_unclear(draft, option)
    table, key = "arguments", flag
    short = flag.removeprefix(flags.SPECULATION_PREFIX)
    if short != flag and short in flags.SPECULATION_KEYS:
        table, key = "speculation", short
    elif flag.startswith("no-") and flag[3:] in flags.SWITCHES_WITH_NO:
        key, value = flag[3:], False
    if names_a_secret(flag) or any(looks_like_key(text) for text in option.values):
        value = _name_secret(draft, flag, option.written)
    entries = draft.table(table)
    if key in entries and entries[key] != value:
        draft.remarks.append(f"{option.written} is given twice: the last one counts, as in SGLang")
    entries[key] = value
    for text in option.values:
        if found := placeholders(text):
            draft.remarks.append(f"{option.written}: {found[0]} has yet to be filled in")


def _remark_unclear(draft: Draft, option: Option) -> None:
    if option.meant:
        meant = ", ".join(f"--{flag}" for flag in option.meant[:3])
        draft.remarks.append(f"{option.written} may mean {meant}: kept as written")
        return
    close = nearest(option.flag, flags.KNOWN)
    also = f"; nearest: --{close}" if close else ""
    draft.remarks.append(f"SGLang 0.5.23 has no {option.written}: kept as written{also}")


def _typed(option: Option) -> Any:
    """The values of an option as TOML would have them, so that the same words come out again."""
    if not option.values:
        return True if takes_nothing(option.flag) or not option.is_clear else ""
    values = [_typed_word(text) for text in option.values]
    return values if len(values) > 1 else values[0]


def _typed_word(text: str) -> Any:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if repr(number) == text:
            return number
    if text.startswith("{"):
        try:
            table = json.loads(text)
        except (ValueError, RecursionError):
            return text
        return table if isinstance(table, dict) and _fits_toml(table) else text
    return text


def _fits_toml(value: Any) -> bool:
    """TOML has no null, and its integers end at 64 bits."""
    if isinstance(value, dict):
        return all(_fits_toml(item) for item in value.values())
    if isinstance(value, list):
        return all(_fits_toml(item) for item in value)
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return value is not None and (not isinstance(value, float) or abs(value) != float("inf"))


def _environment(draft: Draft, environment: Mapping[str, str | None]) -> None:
    for name, value in environment.items():
        if names_a_secret(name) or (value is not None and looks_like_key(value)):
            draft.table("env")[name] = _name_secret(draft, name, f"the variable {name}")
        elif value is None:
            draft.keep(f"{name} was passed through from outside: give it a value in [env]")
        else:
            draft.table("env")[name] = value
            if found := placeholders(value):
                draft.remarks.append(f"{name}: {found[0]} has yet to be filled in")


def _name_secret(draft: Draft, name: str, stood: str) -> str:
    secret = name.lower().replace("_", "-")
    draft.secrets[secret] = stood
    return f"{SECRET_PREFIX}{secret}"


def _placement(draft: Draft, arguments: ServerArguments, launch: Launch) -> None:
    port = arguments.text("port")
    if port is not None and arguments.port is not None:
        draft.table("placement")["port"] = arguments.port
    elif port is not None:
        draft.keep(f"--port {port}: fill in `port` in [placement]")
    if launch.gpus is not None:
        draft.table("placement")["gpus"] = list(launch.gpus)
